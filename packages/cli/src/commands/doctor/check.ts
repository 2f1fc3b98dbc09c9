import type { RawReply } from "@parlance/wire";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Header } from "../../shared/target/configured-target.js";

/** Where, with what and for how long an endpoint is asked. */
export interface Endpoint {
  readonly url: URL;
  readonly headers: readonly Header[];
  /** Milliseconds. */
  readonly timeout: number;
}

/** The response of an endpoint, with the beginning of its body. */
export type HttpReply = Pick<NonNullable<RawReply["http"]>, "status" | "headers" | "text">;

/** The result of a check. */
export interface Finding {
  /** `absent`: there is nothing to check, and that is no fault. */
  readonly state: "ok" | "failed" | "absent";
  /** The finding, in a few words. They may be the peer's: escape them before they are printed. */
  readonly says: string;
  /** The finding, line by line. */
  readonly seen?: readonly string[];
  /** Remarks that are not faults. */
  readonly notes?: readonly string[];
  /** The remedy. */
  readonly remedy?: string;
  /** Where the requirement is written that was broken. */
  readonly rule?: string;
  /** Checks that follow from it, and run before all others. */
  readonly next?: readonly Check[];
  /** After this failure going on is useless, whatever the check is. */
  readonly isFatal?: true;
  /** The exit code of the command, for a failure. */
  readonly exitCode?: number;
  /** Milliseconds, where they are not those of the check itself. */
  readonly took?: number;
}

/** One question about a target. */
export interface Check {
  readonly name: string;
  /** Without it, going on is useless. */
  readonly isEssential?: true;
  /** Never rejects for what the target does. */
  readonly run: () => Promise<Finding>;
}

/** A check that was made, or that it was useless to make. */
export type Checked =
  | ({ readonly name: string; readonly took: number } & Omit<Finding, "took" | "next">)
  | { readonly name: string; readonly state: "not tried" };

/** Who watches an examination. */
export interface Watcher {
  /** A check begins. */
  begin(name: string): void;
  /** It is over, or it is useless to begin. */
  show(checked: Checked): void;
}

/** Makes checks one by one, until one fails that the others need, or somebody wants it to end. */
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
    const { next = [], ...checked }: Checked & Pick<Finding, "next"> = isUseless
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

async function timed(name: string, run: () => Promise<Finding>): Promise<Checked & Pick<Finding, "next">> {
  const start = performance.now();
  const finding = await run();
  return { name, took: performance.now() - start, ...finding };
}

/** The exit code of the command: that of the first failure. */
export function exitCodeOf(checked: readonly Checked[]): number {
  for (const each of checked) if (each.state === "failed") return each.exitCode ?? exitCodes.violations;
  return exitCodes.clean;
}
