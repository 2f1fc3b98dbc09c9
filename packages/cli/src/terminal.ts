import type { WriteStream } from "node:tty";
import { cut } from "./print/columns.js";
import { type Style, styleOf, wantsColour } from "./print/style.js";

/** Where a command prints: lines to a stream of the process, in its colours and its width. */
export interface Output {
  readonly style: Style;
  /** Columns that a line may take: between 60 and 160, whatever the terminal says. */
  readonly width: number;
  readonly isTerminal: boolean;
  /** The reader is so slow that what is only nice to see should be left out. */
  readonly isBehind: boolean;
  /** Prints lines. */
  print(...lines: readonly string[]): void;
  /** Shows a text of a peer in place of the last one, until something is printed or it is empty. On a terminal only. */
  status(text: string): void;
}

const narrowest = 60;
const widest = 160;
/** Where nothing says how wide a line may be. */
const usualWidth = 100;
/** Bytes that may wait for a slow reader. */
const mostWaiting = 4_000_000;

/** An output of the process. */
export function outputOf(stream: WriteStream, env: NodeJS.ProcessEnv): Output {
  const isTerminal = stream.isTTY === true;
  const style = styleOf(wantsColour(isTerminal, env));
  let hasStatus = false;
  const cleared = (): string => (hasStatus ? "\r\u001b[2K" : "");
  return {
    style,
    isTerminal,
    get width() {
      const columns = isTerminal ? stream.columns : Number.parseInt(env.COLUMNS ?? "", 10) || usualWidth;
      return Math.min(widest, Math.max(narrowest, columns));
    },
    get isBehind() {
      return stream.writableLength > mostWaiting;
    },
    print(...lines) {
      stream.write(`${cleared()}${lines.map((line) => `${line}\n`).join("")}`);
      hasStatus = false;
    },
    status(text) {
      if (!isTerminal) return;
      stream.write(`${cleared()}${style.dim(cut(text, stream.columns - 1))}`);
      hasStatus = text !== "";
    },
  };
}
