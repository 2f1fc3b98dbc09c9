import { encodeBase64 } from "../base/base64.js";
import { isObject, isPlain, type JsonObject, kindOf, pointerToken } from "../base/json.js";
import type { ParamsFault } from "../jsonrpc/errors.js";
import { metaKeyFault } from "./meta.js";
import { latest } from "./revisions/all.js";
import { eachElement } from "./revisions/conversion.js";
import { faultsOf, ShapeCompiler } from "./shapes/checker.js";
import { ref } from "./shapes/shape.js";
import type { ShapeFault } from "./shapes/shape-fault.js";
import type { AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceContents } from "./types/content.js";

// Checks of values that handlers return. The common parts, text and JSON, are checked by hand; all others by the shapes
// that `parlance check` uses, so that both apply the same rules.

/** Binary data, sent in base64. A `Buffer` is a `Uint8Array`. */
export type Bytes = Uint8Array | ArrayBuffer;

type BytesIn<Block extends ImageContent | AudioContent> = Omit<Block, "data"> & {
  /** Base64 text, or bytes that are sent as base64. */
  readonly data: string | Bytes;
};

type BytesInContents<Contents> = Contents extends { readonly blob: string }
  ? Omit<Contents, "blob"> & {
      /** Base64 text, or bytes that are sent as base64. */
      readonly blob: string | Bytes;
    }
  : Contents;

/** A content block as a handler may return it: image, audio and resource data may be bytes. */
export type SendableContent =
  | Exclude<ContentBlock, ImageContent | AudioContent | EmbeddedResource>
  | BytesIn<ImageContent>
  | BytesIn<AudioContent>
  | (Omit<EmbeddedResource, "resource"> & {
      /** The contents; a `blob` may be bytes. */
      readonly resource: BytesInContents<ResourceContents>;
    });

/** The bytes of a buffer or of any view of one, from any realm; undefined for other values. */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  // `instanceof` fails for a buffer of another realm, such as a test runner's.
  const isBuffer = Object.prototype.toString.call(value) === "[object ArrayBuffer]";
  return isBuffer ? new Uint8Array(value as ArrayBuffer) : undefined;
}

/** Encodes bytes in content blocks as base64. Returns the same value if there are none. */
export function encodeBytes(content: unknown): unknown {
  return Array.isArray(content) ? encodeBlocks(content) : encodeBlock(content);
}

const encodeBlocks = eachElement(encodeBlock);

function encodeBlock(block: unknown): unknown {
  if (!isObject(block)) return block;
  switch (block.type) {
    case "image":
    case "audio":
      return encodeMember(block, "data");
    case "resource": {
      const resource = isObject(block.resource) ? encodeMember(block.resource, "blob") : block.resource;
      return resource === block.resource ? block : { ...block, resource };
    }
    case "tool_result": {
      const content = encodeBytes(block.content);
      return content === block.content ? block : { ...block, content };
    }
    default:
      return block;
  }
}

function encodeMember(holder: Readonly<Record<string, unknown>>, name: string): unknown {
  const bytes = typeof holder[name] === "string" ? undefined : bytesIn(holder[name]);
  return bytes === undefined ? holder : { ...holder, [name]: encodeBase64(bytes) };
}

/**
 * The first fault that prevents content blocks from being sent.
 * @param path JSON pointer to the blocks
 */
export function contentFault(blocks: unknown, path: string): ParamsFault | undefined {
  if (!Array.isArray(blocks)) return { path, message: `must be an array of content blocks, got ${kindOf(blocks)}` };
  for (let index = 0; index < blocks.length; index++) {
    const block: unknown = blocks[index];
    if (isPlainText(block)) continue;
    const fault = shapeFault("ContentBlock", block, `${path}/${index}`) ?? blockMetaFault(block, `${path}/${index}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Whether content is blocks of plain text alone, as most results have them: it is sent as it is. */
export function isPlainContent(content: unknown): boolean {
  if (!Array.isArray(content)) return false;
  for (let index = 0; index < content.length; index++) if (!isPlainText(content[index])) return false;
  return true;
}

/** The fast path for text blocks. Own members only, because JSON has no others. */
function isPlainText(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type, text, annotations, _meta } = block;
  const isBare = type === "text" && typeof text === "string" && annotations === undefined && _meta === undefined;
  return isBare && Object.getPrototypeOf(block) === Object.prototype;
}

/** The first fault of the `_meta` of a block, of its resource, or of nested blocks. */
export function blockMetaFault(block: unknown, path: string): ParamsFault | undefined {
  if (!isObject(block)) return undefined;
  const own = metaFault(block._meta, `${path}/_meta`);
  if (own !== undefined) return own;
  if (isObject(block.resource)) return metaFault(block.resource._meta, `${path}/resource/_meta`);
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return undefined;
  const inner: readonly unknown[] = block.content;
  return firstFault(inner, (each, index) => blockMetaFault(each, `${path}/content/${index}`));
}

/** The first fault that prevents a `_meta` from being sent. */
export function metaFault(meta: unknown, path: string): ParamsFault | undefined {
  if (meta === undefined) return undefined;
  if (!isObject(meta)) return { path, message: `must be an object, got ${kindOf(meta)}` };
  return metaKeyFault(meta, path) ?? jsonFault(meta, path);
}

/** The first fault that a check finds in a list of values. */
export function firstFault<Value>(
  values: readonly Value[],
  check: (value: Value, index: number) => ParamsFault | undefined,
): ParamsFault | undefined {
  for (const [index, value] of values.entries()) {
    const fault = check(value, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Encodes bytes in the messages of sampling params or of a sampling result as base64. */
export function withEncodedMessages(holder: JsonObject): JsonObject {
  if (!Array.isArray(holder.messages)) return { ...holder, content: encodeBytes(holder.content) };
  const messages = holder.messages.map((each: unknown) => (isObject(each) ? withEncodedMessages(each) : each));
  return { ...holder, messages };
}

/** The rules for a sampling message that its shape does not cover: `_meta` keys, and free JSON in its blocks. */
export function messageFault({ content, _meta }: JsonObject, path: string): ParamsFault | undefined {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const at = (index: number): string => (Array.isArray(content) ? `${path}/content/${index}` : `${path}/content`);
  return (
    metaFault(_meta, `${path}/_meta`) ??
    firstFault(blocks, (block, index) => blockMetaFault(block, at(index)) ?? freeFault(block, at(index)))
  );
}

function freeFault(block: unknown, path: string): ParamsFault | undefined {
  if (!isObject(block)) return undefined;
  return block.type === "tool_use" || block.type === "tool_result" ? jsonFault(block, path) : undefined;
}

const compiler = new ShapeCompiler(latest.shapes.types);

/**
 * The first place where a value differs from the shape of a type in the newest schema.
 * @param type a name in `latest.shapes.types`
 */
export function shapeFault(type: string, value: unknown, path: string): ParamsFault | undefined {
  const [fault] = faultsOf(compiler.compile(ref(type)), value, path).found;
  return fault && { path: fault.pointer, message: describeWithRemedy(fault, type) };
}

function describeWithRemedy({ expected, received, pointer }: ShapeFault, type: string): string {
  // The content of a form is an ordinary object, not a block.
  const isBlock = /\/content(?:\/\d+)?$/.test(pointer) && type !== "ElicitResult";
  const remedy = isBlock && expected === "an object" ? blockRemedy : remedies.get(expected);
  const hint = pointer.endsWith("/data") || pointer.endsWith("/blob") ? `${expected} or bytes` : expected;
  return `must be ${hint}, got ${received}${remedy === undefined ? "" : `: ${remedy}`}`;
}

const blockRemedy = 'text is { type: "text", text: "…" }';

/** Remedies by expected value, where the expectation alone is not clear enough. */
const remedies: ReadonlyMap<string, string> = new Map([
  ["base64", "give a Uint8Array, or the base64 text alone, without a data: prefix and line breaks"],
  ["a URI", "it begins with a scheme, and new URL(…).href escapes what has to be escaped"],
]);

/**
 * The first part of a value that JSON would lose, change or reject. Undefined members of objects are allowed. An object
 * with `toJSON` is judged by the result of it.
 *
 * @param path JSON pointer to the value
 */
export function jsonFault(value: unknown, path: string): ParamsFault | undefined {
  return valueFault(value, path, []);
}

function valueFault(value: unknown, path: string, parents: object[]): ParamsFault | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      if (Number.isFinite(value)) return undefined;
      return {
        path,
        message: `must be a finite number, got ${value}, which JSON writes as null: give null or a string`,
      };
    case "object":
      return value === null ? undefined : objectFault(value, path, parents);
    case "bigint":
      return hasToJson(value)
        ? undefined
        : { path, message: "must be JSON, got a bigint: give a string, or a number if it is small enough" };
    case "undefined":
      return { path, message: "must be JSON, got undefined, which JSON writes as null: give null" };
    default:
      return { path, message: `must be JSON, got a ${typeof value}: give data` };
  }
}

function objectFault(value: object, path: string, parents: object[]): ParamsFault | undefined {
  if (parents.includes(value))
    return { path, message: "must be JSON, got an object that contains itself: leave it out" };
  if (Array.isArray(value)) {
    parents.push(value);
    for (let index = 0; index < value.length; index++) {
      const fault = valueFault(value[index], "", parents);
      if (fault !== undefined) return { ...fault, path: `${path}/${index}${fault.path}` };
    }
    parents.pop();
    return undefined;
  }
  const names = Object.keys(value);
  if (!isPlain(value)) {
    const remedy = instanceRemedy(value, names.length === 0);
    if (remedy !== undefined) return { path, message: `must be JSON, got ${nameOf(value)}: ${remedy}` };
  }
  if (names.length > 0 && hasToJson(value)) return undefined;
  parents.push(value);
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of names) {
    const member = members[name];
    if (member === undefined) continue;
    // Build the pointer only for a fault: this runs for every member of every structured result.
    const fault = valueFault(member, "", parents);
    if (fault !== undefined) return { ...fault, path: `${path}/${pointerToken(name)}${fault.path}` };
  }
  parents.pop();
  return undefined;
}

function hasToJson(value: unknown): boolean {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === "function";
}

/**
 * The remedy for class instances such as `Map`, whose contents JSON loses. Instances with enumerable fields, such as
 * database rows, are accepted.
 */
function instanceRemedy(value: object, isEmpty: boolean): string | undefined {
  if (bytesIn(value) !== undefined) return "give its bytes as image, audio or resource content, or as a base64 string";
  if (hasToJson(value)) return undefined;
  if (value instanceof Error) return "throw it, or throw a ToolError with what the model may read";
  if (value instanceof Map) return "give Object.fromEntries(map), or an array of its entries";
  if (value instanceof Set) return "give an array, such as [...set]";
  if (typeof (value as { readonly then?: unknown }).then === "function") return "await it";
  if (typeof (value as { readonly arrayBuffer?: unknown }).arrayBuffer === "function")
    return "read it first, with await value.json(), text() or arrayBuffer()";
  const isForeign = Object.getPrototypeOf(Object.getPrototypeOf(value)) === null; // A plain object of another realm.
  return isEmpty && !isForeign ? "JSON writes it as {}: give a plain object with what it holds" : undefined;
}

function nameOf(value: object): string {
  const { constructor: maker } = value as { readonly constructor?: unknown };
  const name = typeof maker === "function" && maker.name !== "" ? maker.name : "object";
  return `${/^[AEIOU]/i.test(name) ? "an" : "a"} ${name}`;
}

/** As `jsonFault`, for a value that is read back later: it must be the same then, so instances of classes do not do, nor a `toJSON`. */
export function keptFault(value: unknown, path: string): ParamsFault | undefined {
  return jsonFault(value, path) ?? instanceFault(value, path);
}

function instanceFault(value: unknown, path: string): ParamsFault | undefined {
  if (typeof value === "bigint") return { path, message: "must be JSON, got a bigint: give a string" };
  if (typeof value !== "object" || value === null) return undefined;
  const prototype: object | null = Object.getPrototypeOf(value);
  const isData = Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isData || hasToJson(value)) {
    const remedy = value instanceof Date ? "give date.toISOString()" : "give plain data";
    return { path, message: `must be JSON, got ${nameOf(value)}, which would come back as another value: ${remedy}` };
  }
  return firstFault(Object.entries(value), ([name, member]) => instanceFault(member, `${path}/${pointerToken(name)}`));
}

/** The error for a value that cannot be sent. It is a bug in the handler, so the peer gets *Internal error*. */
export function unsendable(what: string, { path, message }: ParamsFault): TypeError {
  return new TypeError(`${what} cannot be sent: ${path === "" ? "it" : path} ${message}`);
}
