import type { Interrupt } from "./interrupt.js";
import type { Output } from "./output/terminal.js";

/** The values that the program passes to a command. */
export interface Invocation {
  readonly out: Output;
  readonly err: Output;
  readonly interrupt: Interrupt;
  /** The words after `--`; undefined without it. */
  readonly command: readonly string[] | undefined;
  /** Runs the command. Its result becomes the exit code of the program. */
  readonly run: (command: () => Promise<number>) => Promise<void>;
}
