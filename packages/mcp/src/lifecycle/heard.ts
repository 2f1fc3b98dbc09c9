import type { NotificationListener } from "../jsonrpc/inbound.js";
import type { Params } from "../jsonrpc/message.js";

/** What a server tells outside of calls, for everybody on this side who listens. */
export class Heard {
  readonly #listeners = new Set<NotificationListener>();
  readonly #program: NotificationListener;

  /** @param program hears last: what it does then finds everything else up to date */
  constructor(program: NotificationListener = () => undefined) {
    this.#program = program;
  }

  /** Listens until the returned function is called. Listeners hear in the order in which they came. */
  listen(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells everybody. @throws what the first listener has thrown that did, when all have heard */
  tell(method: string, params: Params | undefined): void {
    const faults: unknown[] = [];
    for (const listener of [...this.#listeners, this.#program]) {
      try {
        listener(method, params);
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}
