import type { Failure } from "../failure.js";
import { visibleLines } from "./columns.js";
import { type FrameRow, rowLines } from "./conversation-rows.js";
import type { Output } from "./terminal.js";

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
    ...(wantsStack ? stackLines(failure).map(style.dim) : []),
  );
}

/** Whether to print stacks, for developers of the command. */
const wantsStack = (process.env.PARLANCE_DEBUG ?? "") !== "";

function stackLines(error: Error): readonly string[] {
  const { stack = "", cause } = error;
  return [...visibleLines(stack), ...(cause instanceof Error ? stackLines(cause) : [])];
}

/** Prints the last frames before a failure. */
export function printArrived(frames: readonly FrameRow[], output: Output): void {
  if (frames.length === 0) output.print(output.style.dim("  nothing had crossed"));
  else
    output.print(
      output.style.dim("  what had crossed, at the end:"),
      ...frames.flatMap((frame) => rowLines(frame, output)),
    );
}
