import type { Interrupt } from "./interrupt.js";
import type { Output } from "./output/terminal.js";

/** What a command is given by the program that runs it. */
export interface Invocation {
  readonly out: Output;
  readonly err: Output;
  readonly interrupt: Interrupt;
  /** The words behind `--`, if there is one. */
  readonly command: readonly string[] | undefined;
  /** Runs the command; what it resolves to is the exit code of the program. */
  readonly run: (command: () => Promise<number>) => Promise<void>;
}
