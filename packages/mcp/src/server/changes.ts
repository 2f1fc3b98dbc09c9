/** What can change while clients are connected. */
export type Change =
  | { readonly kind: "list"; readonly list: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string };

export type ChangeListener = (change: Change) => void;

/**
 * The one place where changes of a server meet those who want to hear of them: conversations of the handshake era, and
 * `subscriptions/listen` of the stateless one.
 */
export class Changes {
  readonly #listeners = new Set<ChangeListener>();

  /** How many listen; zero on a server at rest. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Listens until the returned function is called. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells everybody, at once and in the order in which they came. A listener must not throw. */
  tell(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}
