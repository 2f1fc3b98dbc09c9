import { foreignMembers } from "../../base/foreign-members.js";
import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import { OutOfBounds } from "../../jsonrpc/codec/decode.js";
import { isInvalidParams, LocalError } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import type { Method } from "../../protocol/methods.js";
import { type ClientCallOptions, type ClientParts, callOptions, invalidResult } from "./client-parts.js";

/** A list that the server returns in pages: iterate over its items, or get all at once. */
export interface PaginatedList<Item> extends AsyncIterable<Item> {
  /** Every item of every page. If the server rejects a cursor because the list changed, the list is read once more. */
  all(): Promise<readonly Item[]>;
}

/** A checked item, with descriptions of what was corrected; or the reason why it is unusable. */
export type CheckedItem =
  | { readonly item: JsonObject; readonly tolerated?: readonly string[] }
  | { readonly reason: string };

/** A list method of the protocol. */
export interface ListKind {
  readonly method: Method;
  /** The member of the result that holds the items. */
  readonly member: string;
  /** The member that identifies an item; it must be a string. */
  readonly key: string;
  /** Checks the other members of an item. */
  readonly check: (item: JsonObject, key: string) => CheckedItem;
}

/** Limits, because a server may always claim that there are more pages. */
const maxPages = 64;
const maxItems = 10_000;

const reads = "await list.all() returns an array, and for await (const item of list) reads page by page";

/** The prototype of lists, which are neither arrays nor results. */
const foreignListMembers = foreignMembers(
  "list",
  { map: reads, filter: reads, find: reads, some: reads, forEach: reads },
  { tools: reads, resources: reads, resourceTemplates: reads, prompts: reads, nextCursor: reads, length: reads },
);

/**
 * Fetches pages as they are needed. Unusable items are left out, with a report. Iterating throws a LocalError `protocol` for
 * a list that does not end, or is not an array.
 * @param note receives the items of a page before the caller does
 */
export function listing<Item>(
  parts: ClientParts,
  kind: ListKind,
  options: ClientCallOptions,
  note: (item: Item) => void = () => undefined,
): PaginatedList<Item> {
  const read = (reading: Reading): AsyncGenerator<Item> => pages(parts, kind, options, reading, note);
  const list: PaginatedList<Item> = {
    [Symbol.asyncIterator]: () => read({ page: 1 }),
    async all() {
      const reading = { page: 1 };
      try {
        return await collect(read(reading));
      } catch (error) {
        if (reading.page === 1 || !isInvalidParams(error)) throw error;
        return collect(read({ page: 1 })); // The server no longer accepts one of its cursors.
      }
    },
  };
  return Object.setPrototypeOf(list, foreignListMembers);
}

/** The number of the current page, from 1. */
interface Reading {
  page: number;
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* pages<Item>(
  parts: ClientParts,
  kind: ListKind,
  options: ClientCallOptions,
  reading: Reading,
  note: (item: Item) => void,
): AsyncGenerator<Item> {
  const { method } = kind;
  const cursors = new Set<string>();
  const keys = new Set<unknown>();
  let items = 0;
  for (let cursor: string | undefined; ; reading.page += 1) {
    const result = await pageOf(parts, method, cursor, options);
    if (result === undefined) return;
    const { nextCursor } = result;
    const isRepeated = typeof nextCursor === "string" && cursors.has(nextCursor);
    // A server that repeats a cursor may have repeated the page as well.
    const found = itemsOf(parts, kind, result).filter((item) => !isRepeated || !keys.has(item[kind.key]));
    items += found.length;
    for (const item of found) {
      keys.add(item[kind.key]);
      note(item as Item); // `check` validated the required members.
    }
    yield* found as readonly Item[]; // As above.
    if (typeof nextCursor !== "string") return;
    if (isRepeated) {
      parts.session.report({
        kind: "tolerated",
        method,
        reason: `nextCursor ${excerpt(nextCursor)} is repeated: the list ends here`,
      });
      return;
    }
    const { page } = reading;
    if (page >= maxPages || items >= maxItems) throw endless(method, `more than ${page} pages or ${items} items`);
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

/** One page; undefined if the server rejects an empty cursor. */
async function pageOf(
  { call, session: { report } }: ClientParts,
  method: string,
  cursor: string | undefined,
  options: ClientCallOptions,
): Promise<JsonObject | undefined> {
  try {
    return await call(method, cursor === undefined ? {} : { cursor }, { ...callOptions(options), partial: true });
  } catch (error) {
    // An empty cursor is valid, but some servers use it for the end of the list.
    if (cursor !== "" || !isInvalidParams(error)) throw error;
    report({ kind: "tolerated", method, reason: 'nextCursor is "", which the server does not take for a cursor' });
    return undefined;
  }
}

function itemsOf({ session: { report } }: ClientParts, kind: ListKind, result: JsonObject): readonly JsonObject[] {
  const { method, member } = kind;
  const items = result[member];
  if (items === null || items === undefined) {
    report({ kind: "tolerated", method, reason: `${member} is ${items === null ? "null" : "missing"}, not an array` });
    return [];
  }
  if (!Array.isArray(items)) throw invalidResult(method, `${member} must be an array, got ${kindOf(items)}`);
  return items.flatMap((item: unknown, index) => {
    const checked = checkItem(kind, item);
    if ("item" in checked) {
      for (const reason of checked.tolerated ?? []) report({ kind: "tolerated", method, reason });
      return [checked.item];
    }
    report({ kind: "left-out", method, name: nameOf(item, kind) ?? `${member}[${index}]`, reason: checked.reason });
    return [];
  });
}

function checkItem({ key, check }: ListKind, item: unknown): CheckedItem {
  if (item instanceof OutOfBounds) return { reason: item.reason };
  if (!isObject(item)) return { reason: `it must be an object, got ${kindOf(item)}` };
  if (typeof item[key] !== "string") return { reason: `${key} must be a string, got ${kindOf(item[key])}` };
  return check(item, key);
}

function nameOf(item: unknown, { key }: ListKind): string | undefined {
  const members = item instanceof OutOfBounds ? item.members : item;
  const name = isObject(members) ? (members[key] ?? members.name) : undefined;
  return typeof name === "string" ? name : undefined;
}

/** Adds a `name` to an item without one. */
export function named(item: JsonObject, key: string): CheckedItem {
  if (typeof item.name === "string") return { item };
  const { [key]: name } = item;
  return { item: { ...item, name }, tolerated: [`${excerpt(String(name))} has no name`] };
}

function endless(method: string, why: string): LocalError {
  return new LocalError("protocol", `${method}: the list does not end: ${why}`);
}
