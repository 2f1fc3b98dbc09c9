/** A JSON object as returned by `JSON.parse`. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Whether a value is an object in the sense of JSON: neither an array nor null.
 *
 * @example
 * isObject({}); // true
 * isObject([]); // false
 */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `Array.isArray` for a union with readonly arrays, which it does not narrow. */
export function isArray<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}

/** Whether an object is a plain one, not an instance of a class. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** An own member; undefined for a value that is not an object. Inherited members are not part of JSON. */
export function ownMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The value of a JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No JSON text has this value.
  }
}

/** Tests of a value, by the name that JSON Schema gives its type. */
export const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  string: (value) => typeof value === "string",
  array: Array.isArray,
  object: isObject,
};

/**
 * The JSON name of a value's type, for messages.
 *
 * @example
 * kindOf([]); // "an array"
 */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/**
 * One reference token of a JSON pointer, escaped (RFC 6901).
 *
 * @example
 * pointerToken("a/b"); // "a~1b"
 */
export function pointerToken(key: string | number): string {
  const token = String(key);
  // Checks of shapes need the token of every member, and few need an escape.
  return token.includes("~") || token.includes("/") ? token.replaceAll("~", "~0").replaceAll("/", "~1") : token;
}

/**
 * The value at a JSON pointer (RFC 6901); undefined if there is none.
 *
 * @example
 * valueAt({ a: [1, 2] }, "/a/1"); // 2
 */
export function valueAt(root: unknown, pointer: string): unknown {
  let place = root;
  for (const token of pointer.split("/").slice(1)) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof place === "object" && place !== null && Object.hasOwn(place, name);
    place = isThere ? (place as JsonObject)[name] : undefined; // An array has its indices as names, too.
  }
  return place;
}
