import { LocalError } from "../jsonrpc/errors.js";

/** A list that the server gives in pages: iterate over its items, or take them all. */
export interface Listing<Item> extends AsyncIterable<Item> {
  /** Every item of every page. */
  all(): Promise<readonly Item[]>;
}

/** One page and the cursor of the next one. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | undefined;
}

/** A server may be wrong, or malicious, about there being more. */
const maxPages = 64;
const maxItems = 10_000;

/** Fetches pages as they are needed. Throws a LocalError `protocol` for a list that does not end. */
export function listing<Item>(
  method: string,
  fetchPage: (cursor: string | undefined) => Promise<Page<Item>>,
): Listing<Item> {
  const list: Listing<Item> = {
    async *[Symbol.asyncIterator]() {
      const seen = new Set<string>();
      let items = 0;
      for (let cursor: string | undefined, page = 1; ; page += 1) {
        const { items: found, nextCursor } = await fetchPage(cursor);
        items += found.length;
        yield* found;
        if (nextCursor === undefined) return;
        if (seen.has(nextCursor)) throw endless(method, "the server repeats a cursor");
        if (page >= maxPages || items >= maxItems) throw endless(method, `more than ${page} pages or ${items} items`);
        seen.add(nextCursor);
        cursor = nextCursor;
      }
    },
    async all() {
      const items: Item[] = [];
      for await (const item of list) items.push(item);
      return items;
    },
  };
  return list;
}

function endless(method: string, why: string): LocalError {
  return new LocalError("protocol", `${method}: the list does not end: ${why}`);
}
