import { isObject, pointerToken } from "@parlance/mcp/protocol";
import { type JsonNode, jsonValue, namesIn } from "../json/json-node.js";

/** A value of a message for comparison: integers beyond a double are `bigint`. */
export type ComparableValue = unknown;

/** One place at which two values differ. A missing value is undefined. */
export interface ValueChange {
  /** JSON pointer (RFC 6901) to the place. */
  readonly pointer: string;
  /** The value in the first conversation; undefined if absent. */
  readonly before: ComparableValue;
  /** The value in the second conversation; undefined if absent. */
  readonly after: ComparableValue;
}

/** The places that a comparison ignores, as a tree: whether a value is ignored, and which places below it are. */
export class Ignores {
  /** Whether the value itself is left out. */
  readonly isLeftOut: boolean;
  readonly #named = new Map<string, Ignores>();
  /** For members that no pointer names. */
  readonly #others: Ignores | undefined;

  /** @param places as tokens of JSON pointers; `*` is any one token */
  constructor(places: readonly (readonly string[])[]) {
    this.isLeftOut = places.some(({ length }) => length === 0);
    // Sorted by member once, because a long recording looks members up millions of times.
    const below = (...tokens: readonly string[]): readonly (readonly string[])[] =>
      places.filter(([first]) => first !== undefined && tokens.includes(first)).map(([, ...rest]) => rest);
    for (const [first] of places) {
      if (first === undefined || first === "*" || this.#named.has(first)) continue;
      this.#named.set(first, new Ignores(below(first, "*")));
    }
    const others = below("*");
    if (others.length > 0) this.#others = new Ignores(others);
  }

  /** The places in a member or an element; undefined if nothing of it is left out. */
  of(token: string): Ignores | undefined {
    return this.#named.get(token) ?? this.#others;
  }
}

/** The value of a node, with exact integers. If several members have the same name, the last one counts, as in parsers. */
export function comparableValue(node: JsonNode, bytes: Uint8Array): ComparableValue {
  return jsonValue(node, bytes, (literal) => {
    const value = Number(literal);
    return Number.isSafeInteger(value) || !/^-?\d+$/.test(literal) ? value : BigInt(literal);
  });
}

/**
 * A value without its ignored parts; undefined if nothing is left.
 *
 * @example
 * const ignores = ignoring(["/timestamp"]);
 * canonicalJson(significant({ id: 1, timestamp: 5 }, ignores)); // '{"id":1}'
 */
export function significant(value: ComparableValue, ignores: Ignores | undefined): ComparableValue {
  if (ignores === undefined) return value;
  if (ignores.isLeftOut) return undefined;
  if (Array.isArray(value)) return value.map((each, index) => significant(each, ignores.of(String(index))));
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  const left = members
    .map(([key, each]) => [key, significant(each, ignores.of(key))] as const)
    .filter(([, each]) => each !== undefined);
  return left.length === 0 && members.length > 0 ? undefined : Object.fromEntries(left);
}

/**
 * A value as text, equal for equal values in any order of members.
 *
 * @example
 * canonicalJson({ b: 1, a: 2 }) === canonicalJson({ a: 2, b: 1 }); // true
 */
export function canonicalJson(value: ComparableValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (!isObject(value)) return typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "null");
  let members = "";
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(value[key])}`;
  }
  return `{${members}}`;
}

/**
 * The `significant` parts of a value with their members in order: `JSON.stringify` writes equal values as equal texts. Undefined if nothing
 * is left. One call of it for a message takes less time and memory than to concatenate the texts of its parts.
 */
export function sorted(value: ComparableValue, ignores: Ignores | undefined): unknown {
  if (ignores?.isLeftOut === true) return undefined;
  // A bigint becomes a string with the prefix `\0`; strings with this prefix get a second one, so that no two values are equal.
  if (typeof value === "bigint") return `\0${value}`;
  if (typeof value === "string") return value.startsWith("\0") ? `\0${value}` : value;
  if (Array.isArray(value)) return value.map((each, index) => sorted(each, ignores?.of(String(index))));
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  const copy: Record<string, unknown> = {};
  let isEmpty = ignores !== undefined && keys.length > 0;
  for (const key of keys) {
    const member = sorted(value[key], ignores?.of(key));
    if (member === undefined) continue;
    isEmpty = false;
    // An assignment to this name would change the prototype.
    if (key === "__proto__") Object.defineProperty(copy, key, { value: member, enumerable: true });
    else copy[key] = member;
  }
  return isEmpty ? undefined : copy;
}

/** Every innermost place at which two values differ, in the order of the first, then of the second. */
export function differencesOf(before: ComparableValue, after: ComparableValue, pointer = ""): readonly ValueChange[] {
  const children = childrenOf(before, after);
  if (children === undefined) return Object.is(before, after) ? [] : [{ pointer, before, after }];
  return children.flatMap(([token, left, right]) => differencesOf(left, right, `${pointer}/${pointerToken(token)}`));
}

/** The members of two objects or two arrays, side by side; undefined for other values. */
function childrenOf(
  before: ComparableValue,
  after: ComparableValue,
): readonly (readonly [token: string | number, before: unknown, after: unknown])[] | undefined {
  if (Array.isArray(before) && Array.isArray(after)) {
    const [left, right]: readonly (readonly unknown[])[] = [before, after];
    return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => [at, left?.[at], right?.[at]]);
  }
  if (!isObject(before) || !isObject(after)) return undefined;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].map((key) => [key, ownOf(before, key), ownOf(after, key)]);
}

function ownOf(holder: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(holder, key) ? holder[key] : undefined;
}

/**
 * Values that differ between equal runs: ids, tokens, trace context, timestamps and opaque values. Pointers from a message; `*`
 * matches any one token.
 */
export const volatilePointers: readonly string[] = [
  "/id",
  "/params/_meta/progressToken",
  "/params/progressToken",
  "/params/requestId",
  "/params/cursor",
  "/params/requestState",
  "/params/taskId",
  "/result/nextCursor",
  "/result/requestState",
  "/result/taskId",
  "/result/task/taskId",
  ...["params", "result"].flatMap((holder) => [
    ...["createdAt", "lastUpdatedAt", "timestamp"].map((name) => `/${holder}/${name}`),
    ...["traceparent", "tracestate", "baggage"].map((name) => `/${holder}/_meta/${name}`),
    ...["subscriptionId", "related-task"].map((name) => `/${holder}/_meta/io.modelcontextprotocol~1${name}`),
  ]),
  "/result/task/createdAt",
  "/result/task/lastUpdatedAt",
];

/**
 * Ignores the values at the pointers, and below them. `*` matches any one token.
 *
 * @example
 * significant({ id: 1, timestamp: 5 }, ignoring(["/timestamp"])); // { id: 1 }
 */
export function ignoring(pointers: readonly string[]): Ignores {
  return new Ignores(pointers.map(namesIn));
}
