import type { Interrupt } from "./interrupt.js";
import type { Output } from "./output/terminal.js";

/** The values that the program passes to a command. */
export interface Invocation {
  readonly out: Output;
  readonly err: Output;
  readonly interrupt: Interrupt;
  /** The words after `--`, if there is one. */
  readonly command: readonly string[] | undefined;
  /** Runs the command; its result is the exit code of the program. */
  readonly run: (command: () => Promise<number>) => Promise<void>;
}
