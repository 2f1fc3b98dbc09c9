import type { Failure } from "../failure.js";
import type { Frame } from "../frames.js";
import type { Output } from "../terminal.js";
import { visibleLines } from "./columns.js";
import { frameRows } from "./rows.js";

/** Tells a person what went wrong: what was seen, and what to do. */
export function printFailure({ message, seen, remedy }: Failure, { style, print }: Output): void {
  const [headline = "", ...more] = visibleLines(message);
  const quoted = [...more, ...seen.flatMap(visibleLines)].map((line) => `  ${style.dim("│")} ${line}`);
  const advice = remedy === undefined ? [] : visibleLines(remedy).map((line) => `  ${style.dim("→")} ${line}`);
  print(`${style.red("✖")} ${headline}`, ...quoted, ...advice);
}

/** Tells what had crossed before something went wrong: the last frames. */
export function printArrived(frames: readonly Frame[], output: Output): void {
  if (frames.length === 0) output.print(output.style.dim("  nothing had crossed"));
  else
    output.print(
      output.style.dim("  what had crossed, at the end:"),
      ...frames.flatMap((frame) => frameRows(frame, output)),
    );
}
