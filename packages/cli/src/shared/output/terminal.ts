import type { Writable } from "node:stream";
import type { Failure } from "../failure.js";
import type { Pace } from "../pace.js";
import { cut, visibleLines } from "./columns.js";
import { type Style, styleOf, usesColour } from "./style.js";

/** A stream to print to. A terminal has a width. */
type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** An output of the program, with its colours and its width. */
export interface Output {
  /** The stream that it prints to. */
  readonly stream: OutputStream;
  readonly style: Style;
  /** The width of a line in columns: that of the terminal, but between 60 and 160. */
  readonly width: number;
  readonly isTerminal: boolean;
  /** Whether the reader is so slow that optional output should be skipped. */
  readonly isBehind: boolean;
  /** Prints lines. */
  print(...lines: readonly string[]): void;
  /** Writes any number of pieces with backpressure. Ends early on an interrupt. */
  write(pieces: Iterable<string> | AsyncIterable<string>, pace: Pace): Promise<void>;
  /** Shows a status line until something is printed or the text is empty. On a terminal only; escapes the text. */
  status(text: string): void;
}

const narrowest = 60;
const widest = 160;
/** The width without a terminal. */
const usualWidth = 100;
/** The maximum number of bytes that wait for a slow reader. */
const mostWaiting = 4_000_000;

/** An output of the program. */
export function outputOf(stream: OutputStream, env: NodeJS.ProcessEnv): Output {
  const isTerminal = stream.isTTY === true;
  const style = styleOf(usesColour(isTerminal, env));
  let hasStatus = false;
  const cleared = (): string => (hasStatus ? "\r\u001b[2K" : "");
  return {
    stream,
    style,
    isTerminal,
    get width() {
      const columns = (isTerminal ? stream.columns : Number.parseInt(env.COLUMNS ?? "", 10)) || usualWidth;
      return Math.min(widest, Math.max(narrowest, columns));
    },
    get isBehind() {
      return stream.writableLength > mostWaiting;
    },
    print(...lines) {
      stream.write(`${cleared()}${lines.map((line) => `${line}\n`).join("")}`);
      hasStatus = false;
    },
    async write(pieces, pace) {
      await writeAll(stream, pieces, pace);
    },
    status(text) {
      if (!isTerminal) return;
      stream.write(`${cleared()}${style.dim(cut(text, (stream.columns ?? usualWidth) - 1))}`);
      hasStatus = text !== "";
    },
  };
}

/** The number of characters that are written together. */
const together = 65_536;

/** Writes any number of pieces with backpressure. @throws Failure after an interrupt */
async function writeAll(stream: Writable, pieces: Iterable<string> | AsyncIterable<string>, pace: Pace): Promise<void> {
  let text = "";
  const flush = async (): Promise<void> => {
    const isFull = !stream.write(text);
    text = "";
    if (isFull && !stream.destroyed) await drained(stream);
    await pace.turn();
  };
  for await (const piece of pieces) {
    text += piece;
    if (text.length >= together) await flush();
    else if (pace.isDue) await pace.turn();
  }
  if (text !== "") await flush();
}

/** Resolves when a stream drains, fails or closes. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}

/** Lines, each with a line break. */
export function* lined(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

/** Prints a failure: message, evidence and remedy. */
export function printFailure(failure: Failure, { style, print }: Output): void {
  const { message, seen, remedy } = failure;
  const [headline = "", ...more] = visibleLines(message);
  const quoted = [...more, ...seen.flatMap(visibleLines)].map((line) => `  ${style.dim("│")} ${line}`);
  const advice = remedy === undefined ? [] : visibleLines(remedy).map((line) => `  ${style.dim("→")} ${line}`);
  print(
    `${style.red("✖")} ${headline}`,
    ...quoted,
    ...advice,
    ...(printsStack ? stackLines(failure).map(style.dim) : []),
  );
}

/** Whether to print stacks, for developers of the command. */
const printsStack = (process.env.PARLANCE_DEBUG ?? "") !== "";

function stackLines(error: Error): readonly string[] {
  const { stack = "", cause } = error;
  return [...visibleLines(stack), ...(cause instanceof Error ? stackLines(cause) : [])];
}
