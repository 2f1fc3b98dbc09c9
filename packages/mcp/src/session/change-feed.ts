import type { JsonObject } from "../base/json.js";
import type { Authentication } from "../jsonrpc/call.js";
import { answered } from "../jsonrpc/hooks.js";
import type { Reporter } from "../jsonrpc/report.js";
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

/** Whether a caller may learn of a change. @throws HookError if a function of the application fails */
export type ChangeVisibility = (auth: Authentication) => boolean;

/**
 * Called with each change. It must not throw, because it is called within the code that makes the change.
 * @param visible Default: every caller may learn of the change
 */
export type ChangeListener = (change: Change, visible?: ChangeVisibility) => void;

/** A source of changes. */
export interface ChangeSource {
  /** The number of listeners; zero on a server without clients. */
  readonly size: number;
  /** Listens until the returned function is called. */
  listen(listener: ChangeListener): () => void;
}

/** Listener of a change feed. */
export interface FeedListener {
  /** Called when something changes, and again before the notification is sent: the subscription may have ended in between. */
  matches(change: Change): boolean;
  /** The caller at this moment: each change is delivered only if the caller may learn of it. */
  auth(): Authentication;
  /** Receives the failure of a function that decides what the caller may learn of. Then the change is not delivered. */
  readonly report: Reporter;
  notify(method: NotificationMethod, params?: JsonObject): void;
  /** Resolves when there is room for more. */
  drained(): Promise<void>;
}

interface PendingChange {
  readonly change: Change;
  readonly visible: ChangeVisibility | undefined;
}

/**
 * Delivers changes to one listener, in either era. Several changes of the same thing are merged while the listener is blocked, so
 * a slow reader costs no more memory than its subscriptions.
 */
export class ChangeFeed {
  readonly #listener: FeedListener;
  readonly #stop: () => void;
  /** Made for the first change: most sessions see none. */
  #pending: Map<string, PendingChange> | undefined;

  constructor(source: ChangeSource, listener: FeedListener) {
    this.#listener = listener;
    this.#stop = source.listen(this.#take.bind(this));
  }

  /** Whether a change waits to be sent. */
  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  /** Sends what waits, and no notification after it. */
  finish(): void {
    this.#send();
    this.stop();
  }

  /** No notification is sent after this. */
  stop(): void {
    this.#stop();
    this.#pending = undefined;
  }

  #take(change: Change, visible?: ChangeVisibility): void {
    if (!this.#delivers(change, visible)) return;
    if (this.#pending === undefined) {
      this.#pending = new Map();
      void this.#flush(); // Never rejects: neither `drained` nor `notify` fails.
    }
    // The notification of a list is for several definitions, of which the latest may be hidden from the caller.
    if (change.kind === "list") this.#pending.set(change.list, { change, visible: undefined });
    else this.#pending.set(`uri ${change.uri}`, { change, visible });
  }

  #delivers(change: Change, visible: ChangeVisibility | undefined): boolean {
    if (!this.#listener.matches(change)) return false;
    if (visible === undefined) return true;
    return answered("visible", () => visible(this.#listener.auth()), this.#listener.report) === true;
  }

  async #flush(): Promise<void> {
    await this.#listener.drained();
    this.#send();
  }

  #send(): void {
    const changes = [...(this.#pending?.values() ?? [])];
    this.#pending = undefined;
    for (const { change, visible } of changes) if (this.#delivers(change, visible)) this.#tell(change);
  }

  #tell(change: Change): void {
    if (change.kind === "resource") this.#listener.notify(notifications.resourceUpdated, { uri: change.uri });
    else
      for (const { list, notification } of changingLists) if (list === change.list) this.#listener.notify(notification);
  }
}

/**
 * Distributes the changes of a server to its listeners: sessions of the handshake era, and `subscriptions/listen` requests of the
 * stateless era.
 */
export class Changes implements ChangeSource {
  readonly #listeners = new Set<ChangeListener>();

  get size(): number {
    return this.#listeners.size;
  }

  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return this.#forget.bind(this, listener);
  }

  #forget(listener: ChangeListener): void {
    this.#listeners.delete(listener);
  }

  /**
   * Notifies all listeners, synchronously and in the order of their registration. @param visible Default: every caller may learn
   * of it
   */
  tell(change: Change, visible?: ChangeVisibility): void {
    for (const listener of [...this.#listeners]) listener(change, visible);
  }
}
