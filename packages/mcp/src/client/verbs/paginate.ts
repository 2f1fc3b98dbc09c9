import { kindOf } from "../../base/json.js";
import { OutOfBounds } from "../../jsonrpc/codec/bounds.js";
import { codes, LocalError, RpcError } from "../../jsonrpc/errors.js";
import { excerpt, type Reporter } from "../../jsonrpc/report.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import type { Method } from "../../protocol/methods.js";
import type { SessionCall } from "../session/client-session.js";
import { type ClientCallOptions, callOptions, invalidResult } from "./verb-options.js";

/** A list that the server gives in pages: iterate over its items, or take them all. */
export interface PaginatedList<Item> extends AsyncIterable<Item> {
  /** Every item of every page. A list that changes while it is read is read once more. */
  all(): Promise<readonly Item[]>;
}

/** What came of looking at an item: the item, with what was amended in words, or why it cannot be used. */
export type CheckedItem =
  | { readonly item: JsonObject; readonly tolerated?: readonly string[] }
  | { readonly reason: string };

/** A list of a server. */
export interface ListKind {
  readonly method: Method;
  /** The member of the result that holds the items. */
  readonly member: string;
  /** The member that identifies an item: a string. */
  readonly key: string;
  /** Looks at what else an item must have. */
  readonly check: (item: JsonObject) => CheckedItem;
}

/** What a listing needs of its client. */
export interface ListHost {
  readonly call: SessionCall;
  readonly report: Reporter;
}

/** A server may be wrong, or malicious, about there being more. */
const maxPages = 64;
const maxItems = 10_000;

/**
 * Fetches pages as they are needed. An item that cannot be used is left out, with a report: it spoils no other. Throws a
 * LocalError `protocol` for a list that does not end, or is none.
 * @param note takes every item of a page before the page is read
 */
export function listing<Item>(
  host: ListHost,
  kind: ListKind,
  options: ClientCallOptions,
  note: (item: Item) => void = () => undefined,
): PaginatedList<Item> {
  const read = (reading: Reading): AsyncGenerator<Item> => pages(host, kind, options, reading, note);
  return {
    [Symbol.asyncIterator]: () => read({ page: 1 }),
    async all() {
      const reading = { page: 1 };
      try {
        return await collect(read(reading));
      } catch (error) {
        if (reading.page === 1 || !isInvalidParams(error)) throw error;
        return collect(read({ page: 1 })); // The server has forgotten a cursor that it gave.
      }
    },
  };
}

/** Which page is being read, from 1. */
interface Reading {
  page: number;
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function isInvalidParams(error: unknown): boolean {
  return error instanceof RpcError && error.code === codes.invalidParams;
}

async function* pages<Item>(
  host: ListHost,
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
    const result = await pageOf(host, method, cursor, options);
    if (result === undefined) return;
    const { nextCursor } = result;
    const isRepeated = typeof nextCursor === "string" && cursors.has(nextCursor);
    // A server that repeats a cursor may have repeated the page as well.
    const found = itemsOf(host, kind, result).filter((item) => !isRepeated || !keys.has(item[kind.key]));
    items += found.length;
    for (const item of found) {
      keys.add(item[kind.key]);
      note(item as Item); // What is looked at first was checked.
    }
    yield* found as readonly Item[]; // As above.
    if (typeof nextCursor !== "string") return;
    if (isRepeated) {
      host.report({
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

/** One page; undefined where an empty cursor did not lead to one. */
async function pageOf(
  { call, report }: ListHost,
  method: string,
  cursor: string | undefined,
  options: ClientCallOptions,
): Promise<JsonObject | undefined> {
  try {
    return await call(method, cursor === undefined ? {} : { cursor }, { ...callOptions(options), partial: true });
  } catch (error) {
    // It is a cursor like any other, but there are servers that mean the end by it.
    if (cursor !== "" || !isInvalidParams(error)) throw error;
    report({ kind: "tolerated", method, reason: 'nextCursor is "", which the server does not take for a cursor' });
    return undefined;
  }
}

function itemsOf({ report }: ListHost, kind: ListKind, result: JsonObject): readonly JsonObject[] {
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
  return check(item);
}

function nameOf(item: unknown, { key }: ListKind): string | undefined {
  const members = item instanceof OutOfBounds ? item.members : item;
  const name = isObject(members) ? (members[key] ?? members.name) : undefined;
  return typeof name === "string" ? name : undefined;
}

/** Gives an item its `name`, where it has none. */
export function named(item: JsonObject, key: string): CheckedItem {
  if (typeof item.name === "string") return { item };
  const { [key]: name } = item;
  return { item: { ...item, name }, tolerated: [`${excerpt(String(name))} has no name`] };
}

function endless(method: string, why: string): LocalError {
  return new LocalError("protocol", `${method}: the list does not end: ${why}`);
}
