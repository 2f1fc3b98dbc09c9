import { guarded } from "../../jsonrpc/hooks.js";
import type { Params } from "../../jsonrpc/message.js";
import type { Reporter } from "../../jsonrpc/report.js";
import type { NotificationListener } from "../../jsonrpc/routing.js";

/** Emits the server notifications that belong to no call to all listeners. */
export class NotificationEmitter {
  readonly #listeners = new Set<NotificationListener>();
  readonly #report: Reporter;
  readonly #program: NotificationListener;

  /** @param program the program's listener, called last, after all internal state is up to date */
  constructor(report: Reporter, program: NotificationListener = () => undefined) {
    this.#report = report;
    this.#program = program;
  }

  /** Adds a listener; the returned function removes it. Listeners are called in the order of registration. */
  listen(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls all listeners; an error of one does not affect the others. */
  emit(method: string, params: Params | undefined): void {
    for (const listener of [...this.#listeners, this.#program]) {
      guarded("onNotification", () => listener(method, params), this.#report);
    }
  }
}
