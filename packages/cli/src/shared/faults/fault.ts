import { compileFilter, parseFilter } from "@parlance/wire";
import { type Command, InvalidArgumentError } from "commander";
import { usageFailure } from "../failure.js";
import { parseDuration } from "../output/quantities.js";

type RowTest = ReturnType<typeof compileFilter>;

/** A fault of a frame. Times are milliseconds. */
export type Fault =
  | { readonly is: "delay"; readonly for: number; readonly spread: number }
  | { readonly is: "drop" | "dup" | "wrong-id" | "string-id" | "close" }
  /** Holds this many frames and sends them in another order. */
  | { readonly is: "reorder"; readonly frames: number }
  /** Changes one byte: the one at an offset, or a random one. */
  | { readonly is: "corrupt"; readonly at: number | undefined }
  | { readonly is: "truncate"; readonly percent: number }
  | { readonly is: "split"; readonly pieces: number; readonly every: number }
  | { readonly is: "noise" | "stderr"; readonly text: string }
  | { readonly is: "exit"; readonly code: number }
  | { readonly is: "http"; readonly status: number; readonly retryAfter: number | undefined }
  /** Cuts an event stream after this many events. */
  | { readonly is: "sse-cut"; readonly after: number };

/** The forms of a fault, for help pages. */
export const faultHelp = `A <fault> is '<filter> => <what>', for the frames that match the filter:
  delay 500ms±200        delay the frame; others may overtake it
  drop                   do not forward it
  dup                    forward it twice
  reorder 3              hold three frames, and forward them in another order
  corrupt byte@41        change this byte; without an offset, a random one
  truncate 60%           forward only this much of it
  split 3x200ms          forward it in three pieces, with this pause between
  wrong-id, string-id    give it another id, or its id as a string
  noise "text"           write a line that is not a message before it
  stderr "text"          write to stderr before it
  close, exit 3          end the output or the process instead of sending it`;

/** The forms of a fault for a proxy, where a filter chooses requests. */
export const httpFaultHelp = `A <fault> is '<filter> => <what>', for the requests that match the filter:
  http 429 retry-after 2 respond with a status; the server gets no request
  sse-cut after 2        cut the stream of its response after two events
  delay 500ms±200        delay it
  drop, close            never respond; close its connection`;

type Reader = (groups: readonly string[]) => Fault | undefined;

const time = String.raw`(\d+(?:\.\d+)?(?:ms|s|m))`;
const text = String.raw`"((?:[^"\\]|\\.)*)"`;

const grammar: readonly (readonly [form: RegExp, read: Reader])[] = [
  [
    new RegExp(String.raw`^delay ${time}(?:(?:±|\+-)(\d+)(?:ms)?)?$`),
    ([wait, spread]) => ({ is: "delay", for: parseDuration(wait ?? "") ?? 0, spread: Number(spread ?? 0) }),
  ],
  [/^(drop|dup|wrong-id|string-id|close)$/, ([is]) => ({ is: is as "drop" })],
  [/^reorder (\d+)$/, ([frames]) => ({ is: "reorder", frames: Number(frames) })],
  [/^corrupt(?: byte@(\d+))?$/, ([at]) => ({ is: "corrupt", at: at === undefined ? undefined : Number(at) })],
  [/^truncate (\d{1,2})%$/, ([percent]) => ({ is: "truncate", percent: Number(percent) })],
  [
    new RegExp(`^split (\\d+)x${time}$`),
    ([pieces, every]) => ({ is: "split", pieces: Math.max(1, Number(pieces)), every: parseDuration(every ?? "") ?? 0 }),
  ],
  [new RegExp(`^(noise|stderr) ${text}$`), ([is, said]) => ({ is: is as "noise", text: unescaped(said ?? "") })],
  [/^exit (\d{1,3})$/, ([code]) => ({ is: "exit", code: Number(code) })],
  [
    /^http ([1-5]\d\d)(?: retry-after (\d+))?$/,
    ([status, after]) => ({
      is: "http",
      status: Number(status),
      retryAfter: after === undefined ? undefined : Number(after),
    }),
  ],
  [/^sse-cut after (\d+)$/, ([after]) => ({ is: "sse-cut", after: Number(after) })],
];

/** Parses a fault; undefined for an invalid text. */
function parseFault(written: string): Fault | undefined {
  const words = written.trim();
  for (const [form, read] of grammar) {
    const [whole, ...groups] = form.exec(words) ?? [];
    if (whole !== undefined) return read(groups);
  }
  return undefined;
}

function unescaped(said: string): string {
  return said.replaceAll(/\\(.)/g, "$1");
}

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
