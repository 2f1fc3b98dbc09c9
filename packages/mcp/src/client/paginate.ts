import { codes, LocalError, RpcError } from "../jsonrpc/errors.js";
import type { OpenedCall } from "../lifecycle/opened.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import type { Method } from "../protocol/methods.js";
import { callOptions, invalidAnswer, type VerbOptions } from "./verb-options.js";

/** A list that the server gives in pages: iterate over its items, or take them all. */
export interface Listing<Item> extends AsyncIterable<Item> {
  /** Every item of every page. A list that changes while it is read is read once more. */
  all(): Promise<readonly Item[]>;
}

/** A list of a server. */
export interface ListKind {
  readonly method: Method;
  /** The member of the result that holds the items. */
  readonly member: string;
  /** The members that every item has, and that are strings. */
  readonly strings: readonly string[];
  /** The members that every item has, and that are objects. */
  readonly objects?: readonly string[];
}

/** A server may be wrong, or malicious, about there being more. */
const maxPages = 64;
const maxItems = 10_000;

/**
 * Fetches pages as they are needed. Throws a LocalError `protocol` for a list that does not end, or is none.
 * @param note takes every item of a page before the page is read
 */
export function listing<Item>(
  call: OpenedCall,
  kind: ListKind,
  options: VerbOptions,
  note: (item: Item) => void = () => undefined,
): Listing<Item> {
  const read = (reading: Reading): AsyncGenerator<Item> => pages(call, kind, options, reading, note);
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
  call: OpenedCall,
  kind: ListKind,
  options: VerbOptions,
  reading: Reading,
  note: (item: Item) => void,
): AsyncGenerator<Item> {
  const { method } = kind;
  const seen = new Set<string>();
  let items = 0;
  for (let cursor: string | undefined; ; reading.page += 1) {
    const result = await call(method, cursor === undefined ? {} : { cursor }, callOptions(options));
    const found = itemsOf(kind, result) as readonly Item[]; // What is looked at first is checked there.
    items += found.length;
    for (const item of found) note(item);
    yield* found;
    const { nextCursor } = result;
    if (typeof nextCursor !== "string") return;
    const { page } = reading;
    if (seen.has(nextCursor)) throw endless(method, "the server repeats a cursor");
    if (page >= maxPages || items >= maxItems) throw endless(method, `more than ${page} pages or ${items} items`);
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

function itemsOf({ method, member, strings, objects = [] }: ListKind, result: JsonObject): readonly unknown[] {
  const items = result[member];
  const fits = (item: unknown): boolean =>
    isObject(item) &&
    strings.every((name) => typeof item[name] === "string") &&
    objects.every((name) => isObject(item[name]));
  if (Array.isArray(items) && items.every(fits)) return items;
  throw invalidAnswer(method, `${member} is not an array of ${words(member)}`);
}

function words(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function endless(method: string, why: string): LocalError {
  return new LocalError("protocol", `${method}: the list does not end: ${why}`);
}
