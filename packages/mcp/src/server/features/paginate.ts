import type { JsonObject } from "../../base/json.js";
import { faultyParams, type RpcError } from "../../jsonrpc/errors.js";
import type { CacheHints } from "./feature.js";

/** The names of a list on the wire. */
export interface ListShape {
  /** The member of the result that holds the items, e.g. `tools`. */
  readonly member: string;
  /** The member that no two items have in common. */
  readonly key: string;
  /** Items on a page. */
  readonly pageSize: number;
  readonly cache: CacheHints;
}

/** A page, and where in the list it begins. */
export interface Page {
  readonly start: number;
  readonly result: JsonObject;
}

/**
 * One page of a list. A cursor names the last item before it, so that a list which grows or shrinks elsewhere does not
 * move under its reader.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/pagination
 *
 * @throws RpcError −32602 for a cursor that is not of this list, or whose place in it is gone
 */
export function pageOf(items: readonly JsonObject[], cursor: unknown, shape: ListShape): Page {
  const { member, key, pageSize, cache } = shape;
  const start = cursor === undefined ? 0 : placeBehind(items, cursor, shape);
  const page = Object.freeze(items.slice(start, start + pageSize));
  const last = page.at(-1);
  const more = last !== undefined && start + pageSize < items.length;
  const nextCursor = more ? { nextCursor: cursorBehind(member, String(last[key])) } : {};
  return { start, result: { [member]: page, ...nextCursor, ...cache } };
}

function placeBehind(items: readonly JsonObject[], cursor: unknown, { member, key }: ListShape): number {
  const name = typeof cursor === "string" ? nameIn(member, cursor) : undefined;
  const place = name === undefined ? -1 : items.findIndex((item) => item[key] === name);
  if (place < 0) throw badCursor();
  return place + 1;
}

function cursorBehind(member: string, name: string): string {
  return encodeURIComponent(`${member} ${name}`);
}

/** Accepts a cursor only in the exact text that was sent, so that caches keyed by cursor have one entry per page. */
function nameIn(member: string, cursor: string): string | undefined {
  try {
    const name = decodeURIComponent(cursor).slice(member.length + 1);
    return cursorBehind(member, name) === cursor ? name : undefined;
  } catch {
    return undefined; // Not one of ours.
  }
}

function badCursor(): RpcError {
  return faultyParams({ path: "/cursor", message: "is not a cursor of this list: start again without one" });
}
