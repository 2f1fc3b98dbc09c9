import type { Failure } from "../failure.js";
import { visibleLines } from "./columns.js";
import { type FrameRow, rowLines } from "./conversation-rows.js";
import type { Output } from "./terminal.js";

/** Tells a person what went wrong: what was seen, and what to do. */
export function printFailure(failure: Failure, { style, print }: Output): void {
  const { message, seen, remedy } = failure;
  const [headline = "", ...more] = visibleLines(message);
  const quoted = [...more, ...seen.flatMap(visibleLines)].map((line) => `  ${style.dim("│")} ${line}`);
  const advice = remedy === undefined ? [] : visibleLines(remedy).map((line) => `  ${style.dim("→")} ${line}`);
  print(
    `${style.red("✖")} ${headline}`,
    ...quoted,
    ...advice,
    ...(wantsStack ? stackLines(failure).map(style.dim) : []),
  );
}

/** For those who mend the command itself: everybody else is told what was seen, and not where in the code. */
const wantsStack = (process.env.PARLANCE_DEBUG ?? "") !== "";

function stackLines(error: Error): readonly string[] {
  const { stack = "", cause } = error;
  return [...visibleLines(stack), ...(cause instanceof Error ? stackLines(cause) : [])];
}

/** Tells what had crossed before something went wrong: the last frames. */
export function printArrived(frames: readonly FrameRow[], output: Output): void {
  if (frames.length === 0) output.print(output.style.dim("  nothing had crossed"));
  else
    output.print(
      output.style.dim("  what had crossed, at the end:"),
      ...frames.flatMap((frame) => rowLines(frame, output)),
    );
}
