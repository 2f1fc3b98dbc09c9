import type { JsonObject } from "../../base/json.js";
import { type Authentication, identityOf } from "../../jsonrpc/call.js";
import { atOnce } from "../../jsonrpc/hooks.js";
import type { ListName } from "../../protocol/types/subscriptions.js";
import type { Changes } from "../../session/change-feed.js";
import type { ScopedDefinition } from "../required-scopes.js";
import { prepareResult } from "../session/operation.js";
import type { FeatureSettings } from "./feature.js";
import { type ListShape, pageOf } from "./paginate.js";

/** A registered definition. It can be changed while clients are connected; they are notified. */
export interface Registration<Definition> {
  /** The name it was added with; the URI of a resource. */
  readonly name: string;
  /** Whether clients see it. */
  readonly enabled: boolean;
  /** Lists the definition again, after `disable`. */
  enable(): void;
  /** Hides it: it is not listed, and to a client it does not exist. */
  disable(): void;
  /** Replaces members of the definition. @throws as adding it; then nothing has changed */
  update(changes: Partial<Definition>): void;
  /** Takes it away for good; its name is free again. */
  remove(): void;
}

/** The names of a kind of definitions. */
interface RegistryNames extends Pick<ListShape, "member" | "key"> {
  /** The word for people, e.g. `tool`. */
  readonly word: string;
  /** The list whose change clients are notified of. */
  readonly list: ListName;
}

/** A definition as it is served. */
export interface ServedDefinition extends Visibility {
  /** The definition as lists show it. */
  readonly shown: JsonObject;
  /** The scopes that a caller needs. */
  readonly scopes: readonly string[] | undefined;
}

interface Slot<Entry> {
  entry: Entry;
  enabled: boolean;
}

/**
 * The definitions of one kind by name, in the order of their addition. Pages of the list are serialised once, until
 * something changes.
 */
export class Registry<Entry extends ServedDefinition> {
  /** The names of the list on the wire, and its page size. */
  readonly shape: ListShape;
  readonly #changes: Changes;
  readonly #names: RegistryNames;
  readonly #slots = new Map<unknown, Slot<Entry>>();
  readonly #pages = new Map<unknown, JsonObject>();
  /** Undefined until it is asked for after a change. */
  #differs: boolean | undefined;
  /**
   * Whether there ever was a definition, hidden or not: a capability that a client was told of does not go away with the last of
   * them. Set here alone.
   */
  isOffered = false;

  constructor({ lists, changes }: FeatureSettings, names: RegistryNames) {
    this.shape = { member: names.member, key: names.key, ...lists };
    this.#changes = changes;
    this.#names = names;
  }

  /** The entry of that name, unless it is hidden, or the caller does not see it. */
  get(name: unknown, auth: Authentication): Entry | undefined {
    const slot = this.#slots.get(name);
    return slot?.enabled === true && isVisible(slot.entry, auth) ? slot.entry : undefined;
  }

  /** Whether callers may see different lists. */
  get differs(): boolean {
    this.#differs ??= Array.from(this.entries()).some(({ visible }) => visible !== undefined);
    return this.#differs;
  }

  /** Every entry that is not hidden and that the caller sees. Default: that any caller may see. */
  *entries(auth?: Authentication): IterableIterator<Entry> {
    for (const { entry, enabled } of this.#slots.values()) if (enabled && isVisible(entry, auth)) yield entry;
  }

  /** Every entry, also one that is hidden. */
  *definitions(): IterableIterator<Entry> {
    for (const { entry } of this.#slots.values()) yield entry;
  }

  /** Whether the name is taken, also by an entry that is hidden. */
  has(name: string): boolean {
    return this.#slots.has(name);
  }

  /** The whole list as a caller sees it. */
  items(auth: Authentication): readonly JsonObject[] {
    return Array.from(this.entries(auth), ({ shown }) => shown);
  }

  /**
   * @param make the entry of a definition; throws for one that cannot be served
   * @throws TypeError for a name that is taken
   */
  add<Definition extends object>(
    name: string,
    definition: Definition,
    make: (definition: Definition) => Entry,
  ): Registration<Definition> {
    if (this.#slots.has(name))
      throw new TypeError(
        `The ${this.#names.word} ${name} is already defined: update(changes) of its registration changes it`,
      );
    const slot: Slot<Entry> = { entry: make(definition), enabled: true };
    this.#slots.set(name, slot);
    this.isOffered = true;
    this.#changed(slot.entry);
    return this.#registration(name, slot, definition, make);
  }

  /**
   * One page of the list, serialised once if it begins where pages do: cursors that outlived a change may begin
   * anywhere, and a peer could ask for as many pages as there are items.
   * A list that differs from caller to caller is not kept, and no cache may share it.
   * @throws RpcError −32602 for a cursor that is not of this list
   */
  page(cursor: unknown, auth: Authentication): JsonObject {
    if (this.differs) return { ...pageOf(this.items(auth), cursor, this.shape).result, cacheScope: "private" };
    const known = this.#pages.get(cursor);
    if (known !== undefined) return known;
    const { start, result } = pageOf(this.items(auth), cursor, this.shape);
    if (start % this.shape.pageSize !== 0) return result;
    const page = prepareResult(result);
    this.#pages.set(cursor, page);
    return page;
  }

  #registration<Definition extends object>(
    name: string,
    slot: Slot<Entry>,
    first: Definition,
    make: (definition: Definition) => Entry,
  ): Registration<Definition> {
    const isServed = (): boolean => this.#slots.get(name) === slot;
    const requireServed = (): void => {
      if (!isServed()) throw new TypeError(`The ${this.#names.word} ${name} was removed: define it anew`);
    };
    const show = (enabled: boolean): void => {
      requireServed();
      if (slot.enabled === enabled) return;
      slot.enabled = enabled;
      this.#changed(slot.entry);
    };
    let definition = first;
    return {
      name,
      get enabled() {
        return isServed() && slot.enabled;
      },
      enable: () => show(true),
      disable: () => show(false),
      update: (changes) => {
        requireServed();
        const revised = { ...definition, ...changes };
        const { entry } = slot;
        slot.entry = make(revised);
        definition = revised;
        if (slot.enabled) this.#changed(entry, slot.entry);
      },
      remove: () => {
        if (!isServed()) return;
        this.#slots.delete(name);
        if (slot.enabled) this.#changed(slot.entry);
      },
    };
  }

  /** @param entries an entry before and after it changed */
  #changed(...entries: readonly Entry[]): void {
    this.#pages.clear();
    this.#differs = undefined;
    const isForAll = entries.some(({ visible }) => visible === undefined);
    const visible = (auth: Authentication): boolean => entries.some((entry) => isVisible(entry, auth));
    this.#changes.tell({ kind: "list", list: this.#names.list }, isForAll ? undefined : visible);
  }
}

/** What only some callers may see. */
export interface Visibility {
  readonly visible: ScopedDefinition["visible"];
}

/** Whether a caller sees it. A local caller sees everything. @throws HookError if the function of the application fails */
export function isVisible({ visible }: Visibility, auth: Authentication): boolean {
  if (visible === undefined || auth === undefined) return true;
  return atOnce("visible", () => visible(identityOf(auth))) === true;
}
