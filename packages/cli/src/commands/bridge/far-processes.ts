import type { Dial } from "@parlance/mcp/client";
import { type ChildChannel, childChannel } from "@parlance/mcp/node";
import type { Interrupt } from "../../shared/interrupt.js";
import { signalGroup } from "../../shared/signal-group.js";
import { commandOf, type StartedCommand } from "../../shared/target/started-command.js";
import { TextLines } from "../../shared/text-lines.js";

/** Milliseconds, twice: hosts end a program two seconds after its input, and what it has started must be gone by then. */
const exitGrace = 900;

/** The processes that a command of the person runs as, one for each conversation. None outlives this program. */
export class FarProcesses {
  readonly #command: StartedCommand;
  readonly #onStderr: (line: string) => void;
  readonly #running = new Set<ChildChannel>();

  /** @param onStderr takes the lines that the processes write to stderr */
  constructor(command: StartedCommand, interrupt: Interrupt, onStderr: (line: string) => void) {
    this.#command = command;
    this.#onStderr = onStderr;
    interrupt.force.addEventListener("abort", this.#kill);
    process.on("exit", this.#kill);
  }

  /** Starts another one. */
  readonly dial: Dial = () => {
    const stderr = new TextLines(this.#onStderr);
    for (const each of this.#running) if (each.exit !== undefined) this.#running.delete(each);
    const child = childChannel(commandOf(this.#command), { exitGrace, onStderr: (chunk) => stderr.push(chunk) });
    this.#running.add(child);
    return child;
  };

  /** For a program that dies, or a person who does not want to wait: no grace. */
  readonly #kill = (): void => {
    for (const { pid, exit } of this.#running) {
      if (exit === undefined) signalGroup(pid, "SIGKILL");
    }
  };
}
