/** From so many on, what was usual says something on what is not. */
const fewest = 20;
/** The last ones: what was usual an hour ago is not. */
const most = 200;
/** Keeps a peer that makes up methods from filling the memory. */
const mostMethods = 100;

/** How long requests have taken, by method. */
export class Times {
  readonly #byMethod = new Map<string, number[]>();

  add(method: string, milliseconds: number): void {
    const known = this.#byMethod.get(method);
    if (known !== undefined) {
      known.push(milliseconds);
      if (known.length > most) known.shift();
    } else if (this.#byMethod.size < mostMethods) this.#byMethod.set(method, [milliseconds]);
  }

  /** The 95th percentile, if there are enough. */
  usual(method: string): number | undefined {
    const times = this.#byMethod.get(method) ?? [];
    if (times.length < fewest) return undefined;
    return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.95)];
  }
}
