import { invalidParams, type RpcError } from "../jsonrpc/errors.js";
import { PreparedResult } from "../lifecycle/finish.js";
import type { JsonObject } from "../protocol/json.js";

/** A definition that is served: it can be changed while clients are connected, and they are told. */
export interface Registration<Definition> {
  readonly name: string;
  readonly enabled: boolean;
  /** Shows it again. */
  enable(): void;
  /** Hides it: it is not listed, and calls to it fail as if it did not exist. */
  disable(): void;
  /** Replaces parts of its definition. */
  update(changes: Partial<Definition>): void;
  /** Takes it away for good; its name is free again. */
  remove(): void;
}

interface Slot<Entry> {
  entry: Entry;
  enabled: boolean;
}

/** How a kind of definitions is listed. */
export interface RegistryOptions<Entry> {
  /** The member of the list's result, e.g. `tools`. */
  readonly member: string;
  /** The word for people, e.g. `tool`. */
  readonly word: string;
  /** Items on a page. */
  readonly pageSize: number;
  /** What a list shows of an entry. */
  readonly shown: (entry: Entry) => JsonObject;
  /** Called when what a list shows has changed. */
  readonly onChange: () => void;
}

/**
 * The definitions of one kind by name, in the order of their addition. Pages of the list are serialised once, until
 * something changes.
 */
export class Registry<Entry> {
  readonly #options: RegistryOptions<Entry>;
  readonly #slots = new Map<string, Slot<Entry>>();
  readonly #pages = new Map<string | undefined, PreparedResult>();

  constructor(options: RegistryOptions<Entry>) {
    this.#options = options;
  }

  /** Whether there is anything, hidden or not. */
  get isEmpty(): boolean {
    return this.#slots.size === 0;
  }

  /** The entry of that name, unless it is hidden. */
  get(name: string): Entry | undefined {
    const slot = this.#slots.get(name);
    return slot?.enabled === true ? slot.entry : undefined;
  }

  /** Every entry that is not hidden. */
  *entries(): IterableIterator<Entry> {
    for (const { entry, enabled } of this.#slots.values()) if (enabled) yield entry;
  }

  /**
   * @param revise makes the new entry from the old one and what is to change; throws for what cannot be served
   * @throws TypeError for a name that is taken
   */
  add<Definition>(
    name: string,
    entry: Entry,
    revise: (entry: Entry, changes: Partial<Definition>) => Entry,
  ): Registration<Definition> {
    if (this.#slots.has(name)) throw new TypeError(`The ${this.#options.word} ${name} is already defined`);
    const slot: Slot<Entry> = { entry, enabled: true };
    this.#slots.set(name, slot);
    this.#changed();
    const show = (enabled: boolean): void => {
      if (slot.enabled === enabled) return;
      slot.enabled = enabled;
      this.#changed();
    };
    return {
      name,
      get enabled() {
        return slot.enabled;
      },
      enable: () => show(true),
      disable: () => show(false),
      update: (changes) => {
        slot.entry = revise(slot.entry, changes);
        this.#changed();
      },
      remove: () => {
        if (this.#slots.get(name) !== slot) return;
        this.#slots.delete(name);
        this.#changed();
      },
    };
  }

  /**
   * One page of the list.
   * @throws RpcError −32602 for a cursor that is not of this list, or whose place in it is gone
   */
  page(cursor: unknown): PreparedResult {
    if (cursor !== undefined && typeof cursor !== "string") throw badCursor();
    const known = this.#pages.get(cursor);
    if (known !== undefined) return known;
    const page = this.#makePage(cursor);
    this.#pages.set(cursor, page);
    return page;
  }

  /** A cursor names the last item before it, so a list that grows or shrinks elsewhere does not move under a reader. */
  #makePage(cursor: string | undefined): PreparedResult {
    const { member, pageSize, shown } = this.#options;
    const names = [...this.#slots].filter(([, { enabled }]) => enabled).map(([name]) => name);
    const last = cursor === undefined ? -1 : names.indexOf(nameOf(cursor));
    if (cursor !== undefined && last < 0) throw badCursor();
    const page = names.slice(last + 1, last + 1 + pageSize);
    const items = page.flatMap((name) => this.get(name) ?? []).map(shown);
    const final = page.at(-1);
    const more = final !== undefined && last + 1 + pageSize < names.length;
    return new PreparedResult({ [member]: items, ...(more ? { nextCursor: cursorOf(final) } : {}) });
  }

  #changed(): void {
    this.#pages.clear();
    this.#options.onChange();
  }
}

const cursorPrefix = "after:";

function cursorOf(name: string): string {
  return encodeURIComponent(cursorPrefix + name);
}

function nameOf(cursor: string): string {
  try {
    const text = decodeURIComponent(cursor);
    return text.startsWith(cursorPrefix) ? text.slice(cursorPrefix.length) : "";
  } catch {
    return ""; // Not one of ours; no definition has an empty name.
  }
}

function badCursor(): RpcError {
  return invalidParams("Invalid params", [
    { path: "/cursor", message: "is not a cursor of this list: start again without one" },
  ]);
}
