// `npm run test:all` runs the long form of every test; `npm test` the short one, which still has every behaviour.

/** Whether this is a run of the long forms. */
export const isLong: boolean = process.env.PARLANCE_LONG === "1";

/** The value of the form that runs. */
export function inForm<T>({ long, short }: { readonly long: T; readonly short: T }): T {
  return isLong ? long : short;
}

/** Runs of a property: all of them in the long form, a tenth in the short one, but at least two. */
export function runs(all: number): number {
  return inForm({ long: all, short: Math.max(2, Math.ceil(all / 10)) });
}
