import { pointerToken } from "@parlance/mcp/protocol";

/** A value of a JSON text, with its byte range; the end is exclusive. */
export type JsonNode = JsonObjectNode | JsonArrayNode | JsonScalarNode;

/** A piece of a JSON text. */
interface Place {
  /** The offset of the first byte. */
  readonly start: number;
  /** The offset after the last byte. */
  readonly end: number;
}

export interface JsonObjectNode extends Place {
  readonly kind: "object";
  /** The members, in order, including duplicates. */
  readonly members: readonly JsonMember[];
}

export interface JsonArrayNode extends Place {
  readonly kind: "array";
  /** The elements, in order. */
  readonly elements: readonly JsonNode[];
}

export interface JsonScalarNode extends Place {
  /** The type of the value. */
  readonly kind: "string" | "number" | "true" | "false" | "null";
}

/** A member of an object. */
export interface JsonMember {
  /** The name, with its escapes resolved. */
  readonly key: string;
  /** The offset of the first byte of the name. */
  readonly keyStart: number;
  /** The offset after the last byte of the name. */
  readonly keyEnd: number;
  /** The value. */
  readonly value: JsonNode;
}

/** A byte range; the end is exclusive. */
export type ByteRange = readonly [start: number, end: number];

/**
 * The node at a JSON pointer (RFC 6901); of members with the same name the last, as in parsers.
 *
 * @example
 * const scan = scanJson(bytes);
 * const id = scan.ok ? nodeAt(scan.root, "/id") : undefined;
 */
export function nodeAt(root: JsonNode, pointer: string): JsonNode | undefined {
  let node: JsonNode | undefined = root;
  for (const name of namesIn(pointer)) {
    if (node === undefined) return undefined;
    node = childOf(node, name);
  }
  return node;
}

/** The names and indexes in a JSON pointer, with its escapes resolved. */
export function namesIn(pointer: string): readonly string[] {
  const [, ...tokens] = pointer.split("/");
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at a JSON pointer, of a value that was parsed. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const name of namesIn(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    if (Array.isArray(value) && !arrayIndex.test(name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name]; // The name was found, so this is an object or an array.
  }
  return value;
}

const arrayIndex = /^(?:0|[1-9]\d*)$/;

/** The member or the element of that name. */
export function childOf(node: JsonNode, name: string): JsonNode | undefined {
  if (node.kind === "object") return node.members.findLast(({ key }) => key === name)?.value;
  if (node.kind === "array" && arrayIndex.test(name)) return node.elements[Number(name)];
  return undefined;
}

/** The byte range of the value at a pointer. For a missing member, the range of the object or array that should have it. */
export function rangeOf(root: JsonNode, pointer: string): ByteRange {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf("/"))) {
    const node = nodeAt(root, at);
    if (node !== undefined || at === "") return [(node ?? root).start, (node ?? root).end];
  }
}

/** The pointer to the innermost value that a byte belongs to; a name belongs to its member. Undefined outside the root. */
export function pointerAt(root: JsonNode, offset: number): string | undefined {
  if (offset < root.start || offset >= root.end) return undefined;
  let pointer = "";
  for (let node: JsonNode | undefined = root; node !== undefined; ) {
    const inside: { token: string; value: JsonNode } | undefined = childAround(node, offset);
    if (inside === undefined) return pointer;
    pointer += `/${inside.token}`;
    node = inside.value;
  }
  return pointer;
}

function childAround(node: JsonNode, offset: number): { token: string; value: JsonNode } | undefined {
  if (node.kind === "object") {
    const member = node.members.find(({ keyStart, value }) => offset >= keyStart && offset < value.end);
    return member && { token: pointerToken(member.key), value: member.value };
  }
  if (node.kind !== "array") return undefined;
  const index = node.elements.findIndex(({ start, end }) => offset >= start && offset < end);
  const value = node.elements[index];
  return value && { token: pointerToken(index), value };
}

/**
 * The value, as `JSON.parse` makes it: of members with the same name the last.
 *
 * @param numberOf the value of a number. Default: that of `JSON.parse`
 */
export function jsonValue(
  node: JsonNode,
  bytes: Uint8Array,
  numberOf: (literal: string) => unknown = JSON.parse,
): unknown {
  if (node.kind === "array") return node.elements.map((element) => jsonValue(element, bytes, numberOf));
  if (node.kind === "string") return stringOf(node, bytes);
  // An assignment to the name `__proto__` would change the prototype.
  if (node.kind === "object")
    return Object.fromEntries(node.members.map(({ key, value }) => [key, jsonValue(value, bytes, numberOf)]));
  const literal = literalOf(node, bytes);
  return node.kind === "number" ? numberOf(literal) : (JSON.parse(literal) as unknown);
}

const loose = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The text of a node as it was written, with U+FFFD in place of bytes that are not UTF-8.
 *
 * @example
 * const scan = scanJson(bytes);
 * const params = scan.ok ? nodeAt(scan.root, "/params") : undefined;
 * console.log(params && literalOf(params, bytes)); // As they were written.
 */
export function literalOf({ start, end }: Place, bytes: Uint8Array): string {
  return plainText(start, end, bytes, false) ?? loose.decode(bytes.subarray(start, end));
}

/** The value of a string literal. */
export function stringOf({ start, end }: Place, bytes: Uint8Array): string {
  // The scan found a string.
  return plainText(start + 1, end - 1, bytes, true) ?? (JSON.parse(literalOf({ start, end }, bytes)) as string);
}

/** The maximum number of bytes that are decoded by hand: a `TextDecoder` costs more for a short text. */
const shortText = 40;
const backslash = 0x5c;

/** A short piece of ASCII as text; undefined if it is longer or not ASCII. */
function plainText(start: number, end: number, bytes: Uint8Array, withoutEscapes: boolean): string | undefined {
  if (end - start > shortText || end > bytes.length) return undefined;
  let text = "";
  for (let at = start; at < end; at += 1) {
    const code = bytes[at] ?? 0;
    if (code >= 0x80 || (withoutEscapes && code === backslash)) return undefined;
    text += String.fromCharCode(code);
  }
  return text;
}
