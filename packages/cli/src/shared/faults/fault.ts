import { parseDuration } from "../output/quantities.js";

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
export function parseFault(written: string): Fault | undefined {
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
