import { didYouMean } from "../base/did-you-mean.js";
import { kindOf } from "../base/json.js";
import type { JsonObject } from "../protocol/json.js";
import { type NotificationMethod, notifications } from "../protocol/methods.js";
import { changingLists, type ListName } from "../protocol/types/subscriptions.js";

/** A change while clients are connected. */
export type Change =
  | {
      readonly kind: "list";
      /** The list that changed. */
      readonly list: ListName;
    }
  | {
      readonly kind: "resource";
      /** The URI of the resource that changed. */
      readonly uri: string;
    };

/** Takes a change. It must not throw: it is called from inside of whatever changes something. */
export type ChangeListener = (change: Change) => void;

/** Where changes can be heard of. */
export interface ChangeSource {
  /** How many listen; zero on a server without clients. */
  readonly size: number;
  /** Listens until the returned function is called. */
  listen(listener: ChangeListener): () => void;
}

/** Listener of a change feed. */
export interface FeedListener {
  /** Called when something changes, and again before the notification is sent: the subscription may have ended in between. */
  wants(change: Change): boolean;
  notify(method: NotificationMethod, params?: JsonObject): void;
  /** Resolves when there is room for more. */
  drained(): Promise<void>;
}

/**
 * Delivers changes to one listener, in either era. Several changes of the same thing are merged while the listener is blocked, so
 * a slow reader costs no more memory than its subscriptions.
 */
export class ChangeFeed {
  readonly #listener: FeedListener;
  readonly #stop: () => void;
  readonly #pending = new Map<string, Change>();

  constructor(source: ChangeSource, listener: FeedListener) {
    this.#listener = listener;
    this.#stop = source.listen((change) => this.#take(change));
  }

  /** No notification is sent after this. */
  stop(): void {
    this.#stop();
    this.#pending.clear();
  }

  #take(change: Change): void {
    if (!this.#listener.wants(change)) return;
    if (this.#pending.size === 0) void this.#flush(); // Never rejects: neither `drained` nor `notify` fails.
    this.#pending.set(change.kind === "list" ? change.list : `uri ${change.uri}`, change);
  }

  async #flush(): Promise<void> {
    await this.#listener.drained();
    const changes = [...this.#pending.values()];
    this.#pending.clear();
    for (const change of changes) if (this.#listener.wants(change)) this.#tell(change);
  }

  #tell(change: Change): void {
    if (change.kind === "resource") this.#listener.notify(notifications.resourceUpdated, { uri: change.uri });
    else
      for (const { list, notification } of changingLists) if (list === change.list) this.#listener.notify(notification);
  }
}

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
  /** Reports that a list changed for another reason than a definition, such as the result of a template's `list`, or a middleware. */
  list(list: ListName): void;
}

/** The author's end of the hub. */
export function changedBy(changes: Changes): Changed {
  return {
    resource(uri) {
      if (typeof uri !== "string") {
        const remedy = "write server.changed.resource(uri)";
        throw new TypeError(`server.changed.resource: the URI must be a string, got ${kindOf(uri)}: ${remedy}`);
      }
      changes.tell({ kind: "resource", uri });
    },
    list(list) {
      const names = changingLists.map((each) => each.list);
      if (!names.includes(list)) {
        const remedy = didYouMean(String(list), names) ?? `there are ${names.join(", ")}`;
        throw new TypeError(`server.changed.list: there is no list ${JSON.stringify(list)}: ${remedy}`);
      }
      changes.tell({ kind: "list", list });
    },
  };
}
