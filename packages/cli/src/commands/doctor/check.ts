import { exitCodes } from "../../shared/exit-codes.js";

/** The result of a check. */
export interface CheckResult {
  /** `absent`: there is nothing to check, which is not a fault. */
  readonly state: "ok" | "failed" | "absent";
  /** The result, in a few words. They may come from the peer: escape them before printing. */
  readonly says: string;
  /** The evidence, line by line. */
  readonly seen?: readonly string[];
  /** Remarks that are not faults. */
  readonly notes?: readonly string[];
  /** The remedy. */
  readonly remedy?: string | undefined;
  /** The address of the broken requirement. */
  readonly rule?: string;
  /** Further checks, which run before the remaining ones. */
  readonly next?: readonly Check[];
  /** Whether this failure ends the examination, even if the check is not essential. */
  readonly isFatal?: true;
  /** The exit code of the command, for a failure. */
  readonly exitCode?: number;
  /** The shown duration in milliseconds. Default: that of the check. */
  readonly took?: number;
}

/** The result of a check that a target has failed. */
export function failed(
  says: string,
  remedy: string | undefined,
  exitCode: number = exitCodes.unreachable,
): CheckResult {
  return { state: "failed", says, remedy, exitCode };
}

/** A check of a target. */
export interface Check {
  readonly name: string;
  /** Whether a failure ends the examination. */
  readonly isEssential?: true;
  /** Never rejects, whatever the target does. */
  readonly run: () => Promise<CheckResult>;
}

/** A check with its result, or one that was skipped. */
export type Checked =
  | ({ readonly name: string; readonly took: number } & Omit<CheckResult, "took" | "next">)
  | { readonly name: string; readonly state: "not tried" };

/** The listener of an examination. */
export interface Watcher {
  /** Called when a check begins. */
  begin(name: string): void;
  /** Called when a check has ended or was skipped. */
  show(checked: Checked): void;
}

/** Runs checks one by one, until an essential one fails or the user interrupts. */
export async function examine(
  checks: readonly Check[],
  stop: AbortSignal,
  { begin, show }: Watcher,
): Promise<readonly Checked[]> {
  const done: Checked[] = [];
  const left = [...checks];
  let isUseless = false;
  for (let check = left.shift(); check !== undefined; check = left.shift()) {
    const { name, isEssential, run } = check;
    if (stop.aborted) break;
    if (!isUseless) begin(name);
    const { next = [], ...checked }: Checked & Pick<CheckResult, "next"> = isUseless
      ? { name, state: "not tried" }
      : await timed(name, run);
    left.unshift(...next);
    if (stop.aborted) break;
    done.push(checked);
    show(checked);
    if (checked.state === "failed" && (isEssential === true || checked.isFatal === true)) isUseless = true;
  }
  return done;
}

async function timed(name: string, run: () => Promise<CheckResult>): Promise<Checked & Pick<CheckResult, "next">> {
  const start = performance.now();
  const finding = await run();
  return { name, took: performance.now() - start, ...finding };
}

/** The exit code of the command: that of the first failure. */
export function exitCodeOf(checked: readonly Checked[]): number {
  for (const each of checked) if (each.state === "failed") return each.exitCode ?? exitCodes.violations;
  return exitCodes.clean;
}
