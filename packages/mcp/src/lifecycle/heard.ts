import { guarded } from "../jsonrpc/hooks.js";
import type { Params } from "../jsonrpc/message.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { NotificationListener } from "../jsonrpc/routing.js";

/** What a server tells outside of calls, for everybody on this side who listens. */
export class Heard {
  readonly #listeners = new Set<NotificationListener>();
  readonly #report: Reporter;
  readonly #program: NotificationListener;

  /** @param program hears last: what it does then finds everything else up to date */
  constructor(report: Reporter, program: NotificationListener = () => undefined) {
    this.#report = report;
    this.#program = program;
  }

  /** Listens until the returned function is called. Listeners hear in the order in which they came. */
  listen(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells everybody: what one listener throws keeps nothing from the others. */
  tell(method: string, params: Params | undefined): void {
    for (const listener of [...this.#listeners, this.#program]) {
      guarded("onNotification", () => listener(method, params), this.#report);
    }
  }
}
