import { compileFilter, parseFilter } from "@parlance/wire";
import { type Command, InvalidArgumentError } from "commander";
import { usageFailure } from "../failure.js";
import { type Fault, parseFault } from "./fault.js";

type RowTest = ReturnType<typeof compileFilter>;

/** The flags of `addFaultOptions`. */
export interface FaultFlags {
  readonly fault?: readonly string[];
  readonly seed: number;
}

/** The faults of a conversation. */
export interface FaultPlan {
  readonly rules: readonly FaultRule[];
  readonly seed: number;
}

/** Adds the options that inject faults. */
export function addFaultOptions(command: Command): Command {
  return command
    .option("--fault <fault>", "inject a fault into matching frames, see below; may be repeated", collectFault)
    .option("--seed <number>", "the seed of random choices", seed, 1);
}

/** The faults of the flags; undefined without any. @throws Failure for an invalid fault */
export function faultPlan({ fault = [], seed: chances }: FaultFlags, transport: FaultTransport): FaultPlan | undefined {
  if (fault.length === 0) return undefined;
  return { rules: fault.map((text) => parseFaultRule(text, transport)), seed: chances };
}

function collectFault(text: string, others: readonly string[] = []): readonly string[] {
  return [...others, text];
}

function seed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, of at most nine digits.");
}

/** A fault and the frames that it applies to. */
export interface FaultRule {
  /** The text as written. */
  readonly text: string;
  readonly chooses: RowTest;
  readonly fault: Fault;
}

/** The transports with faults. */
type FaultTransport = "stdio" | "http";

const arrow =
  /\s*=>\s*(?=(?:delay|drop|dup|reorder|corrupt|truncate|split|wrong-id|string-id|noise|stderr|close|exit|http|sse-cut)\b)/;
/** The faults of HTTP exchanges; all other faults apply to frames on stdio. */
const httpFaults: ReadonlySet<Fault["is"]> = new Set(["http", "sse-cut", "delay", "drop", "close"]);
const onlyHttp: ReadonlySet<Fault["is"]> = new Set(["http", "sse-cut"]);

/** Reads `'<filter> => <fault>'`. @throws Failure */
function parseFaultRule(text: string, transport: FaultTransport): FaultRule {
  const at = arrow.exec(text);
  const fault = at === null ? undefined : parseFault(text.slice(at.index + at[0].length));
  if (at === null || fault === undefined)
    throw usageFailure(
      `--fault ${text}: it must be a filter, => and a fault`,
      "--fault 'tool:search => delay 500ms±200'",
    );
  const isPossible = transport === "http" ? httpFaults.has(fault.is) : !onlyHttp.has(fault.is);
  if (!isPossible)
    throw usageFailure(
      `--fault ${text}: ${fault.is} is no fault of ${transport}`,
      transport === "http" ? `a proxy knows ${[...httpFaults].join(", ")}` : "parlance proxy knows it",
    );
  const filter = parseFilter(text.slice(0, at.index));
  if (!filter.ok) throw usageFailure(`--fault ${text}: the filter cannot be read: ${filter.fault.says}`);
  return { text, chooses: compileFilter(filter.filter), fault };
}
