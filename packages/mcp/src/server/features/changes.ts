import type { ListName } from "../../protocol/types/subscriptions.js";
import type { Change, ChangeListener, ChangeSource } from "../../session/change-feed.js";

/**
 * The one place where changes of a server meet those who want to hear of them: conversations of the handshake era, and
 * `subscriptions/listen` of the stateless one.
 */
export class Changes implements ChangeSource {
  readonly #listeners = new Set<ChangeListener>();

  get size(): number {
    return this.#listeners.size;
  }

  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells everybody, at once and in the order in which they came. */
  tell(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

/** Reports changes that the server cannot detect itself. */
export interface Changed {
  /** Reports that the contents of a resource changed: clients that subscribed to exactly this URI are notified. */
  resource(uri: string): void;
  /** A list has changed for another reason than a definition: `list` of a template, say, or a middleware. */
  list(list: ListName): void;
}

/** The author's end of the hub. */
export function changedBy(changes: Changes): Changed {
  return {
    resource: (uri) => changes.tell({ kind: "resource", uri }),
    list: (list) => changes.tell({ kind: "list", list }),
  };
}
