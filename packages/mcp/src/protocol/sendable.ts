import { encodeBase64 } from "../base/base64.js";
import { isObject, type JsonObject, kindOf, pointerToken } from "../base/json.js";
import type { ParamsFault } from "../jsonrpc/errors.js";
import type { AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceContents } from "./content.js";
import { metaKeyFault } from "./meta-keys.js";
import { type Checker, faultsOf } from "./shapes/checker.js";
import { ShapeCompiler } from "./shapes/compile-shape.js";
import { newestShapes } from "./shapes/message-shapes.js";
import { ref } from "./shapes/shape.js";
import type { ShapeFault } from "./shapes/shape-fault.js";

// The check of what a handler gives us to send. What nearly every result consists of, text and JSON, is checked by hand;
// anything else by the shapes that `parlance check` judges peers by, so that the two cannot disagree.

/** Bytes that are sent in base64. A `Buffer` is a `Uint8Array`. */
export type Bytes = Uint8Array | ArrayBuffer;

type BytesIn<Block extends ImageContent | AudioContent> = Omit<Block, "data"> & { readonly data: string | Bytes };

type BytesInContents<Contents> = Contents extends { readonly blob: string }
  ? Omit<Contents, "blob"> & { readonly blob: string | Bytes }
  : Contents;

/** A content block as a handler may give it: the data of images, audio and embedded resources may be bytes. */
export type SendableContent =
  | Exclude<ContentBlock, ImageContent | AudioContent | EmbeddedResource>
  | BytesIn<ImageContent>
  | BytesIn<AudioContent>
  | (Omit<EmbeddedResource, "resource"> & { readonly resource: BytesInContents<ResourceContents> });

/** A view of the bytes of a buffer or of any view of one, of any realm; undefined for anything else. */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  // `instanceof` fails for a buffer that another realm has made, such as a test runner's.
  const isBuffer = Object.prototype.toString.call(value) === "[object ArrayBuffer]";
  return isBuffer ? new Uint8Array(value as ArrayBuffer) : undefined;
}

/** Blocks, or one block, with their bytes in base64; the very same value where there are none. */
export function encodeBytes(content: unknown): unknown {
  if (!Array.isArray(content)) return encodeBlock(content);
  let encoded: unknown[] | undefined;
  for (let index = 0; index < content.length; index++) {
    const block: unknown = content[index];
    const other = encodeBlock(block);
    if (other === block) continue;
    encoded ??= [...content];
    encoded[index] = other;
  }
  return encoded ?? content;
}

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
 * What keeps the blocks of a result from being sent, if anything does.
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

/** What nearly every block is. An own member, as JSON has no others. */
function isPlainText(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type, text, annotations, _meta } = block;
  const isPlain = type === "text" && typeof text === "string" && annotations === undefined && _meta === undefined;
  return isPlain && Object.getPrototypeOf(block) === Object.prototype;
}

/** What is wrong with the `_meta` of a block, of the resource in it, or of the blocks in it. */
export function blockMetaFault(block: unknown, path: string): ParamsFault | undefined {
  if (!isObject(block)) return undefined;
  const own = metaFault(block._meta, `${path}/_meta`);
  if (own !== undefined) return own;
  if (isObject(block.resource)) return metaFault(block.resource._meta, `${path}/resource/_meta`);
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return undefined;
  const inner: readonly unknown[] = block.content;
  return firstFault(inner, (each, index) => blockMetaFault(each, `${path}/content/${index}`));
}

/** What keeps a `_meta` from being sent. */
export function metaFault(meta: unknown, path: string): ParamsFault | undefined {
  if (meta === undefined) return undefined;
  if (!isObject(meta)) return { path, message: `must be an object, got ${kindOf(meta)}` };
  return metaKeyFault(meta, path) ?? jsonFault(meta, path);
}

/** The first fault that a check finds among some values. */
export function firstFault(
  values: readonly unknown[],
  check: (value: unknown, index: number) => ParamsFault | undefined,
): ParamsFault | undefined {
  for (const [index, value] of values.entries()) {
    const fault = check(value, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Params or a result of sampling, with the bytes in its message or its messages in base64. */
export function withEncodedMessages(holder: JsonObject): JsonObject {
  if (!Array.isArray(holder.messages)) return { ...holder, content: encodeBytes(holder.content) };
  const messages = holder.messages.map((each: unknown) => (isObject(each) ? withEncodedMessages(each) : each));
  return { ...holder, messages };
}

/** What the shape of a message of sampling does not say: the keys of its `_meta`s, and JSON that is free in its blocks. */
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

let compiler: ShapeCompiler | undefined;
const checkers = new Map<string, Checker>();

/**
 * The first place where a value does not have the shape that the newest schema gives to the type.
 * @param type a name of `newestShapes.types`
 */
export function shapeFault(type: string, value: unknown, path: string): ParamsFault | undefined {
  let checker = checkers.get(type);
  if (checker === undefined) {
    compiler ??= new ShapeCompiler(newestShapes.types);
    checker = compiler.compile(ref(type));
    checkers.set(type, checker);
  }
  const [fault] = faultsOf(checker, value, path).found;
  return fault && { path: fault.pointer, message: describeWithRemedy(fault, type) };
}

function describeWithRemedy({ expected, received, pointer }: ShapeFault, type: string): string {
  // The content of a form is an object of another kind.
  const isBlock = /\/content(?:\/\d+)?$/.test(pointer) && type !== "ElicitResult";
  const remedy = isBlock && expected === "an object" ? blockRemedy : remedies.get(expected);
  const hint = pointer.endsWith("/data") || pointer.endsWith("/blob") ? `${expected} or bytes` : expected;
  return `must be ${hint}, got ${received}${remedy === undefined ? "" : `: ${remedy}`}`;
}

const blockRemedy = 'text is { type: "text", text: "…" }';

/** By what is expected: the remedies that are not plain from it. */
const remedies: ReadonlyMap<string, string> = new Map([
  ["base64", "give a Uint8Array, or the base64 text alone, without a data: prefix and line breaks"],
  ["a URI", "it begins with a scheme, and new URL(…).href escapes what has to be escaped"],
]);

/**
 * What JSON would lose, change or refuse in a value: undefined is left out of objects and is fine there. What has a
 * `toJSON` is what that gives.
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
  const prototype: unknown = Object.getPrototypeOf(value);
  const names = Object.keys(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const remedy = instanceRemedy(value, names.length === 0);
    if (remedy !== undefined) return { path, message: `must be JSON, got ${nameOf(value)}: ${remedy}` };
  }
  if (names.length > 0 && hasToJson(value)) return undefined;
  parents.push(value);
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of names) {
    const member = members[name];
    if (member === undefined) continue;
    // The pointer is put together only for a fault: this runs for every member of every structured result.
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
 * Why an instance of a class is no data: JSON writes its enumerable fields, and these have none, or none that say what
 * they hold. Rows of a database and the like are instances too, and pass.
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
  const isPlain = Object.getPrototypeOf(Object.getPrototypeOf(value)) === null; // An object of another realm.
  return isEmpty && !isPlain ? "JSON writes it as {}: give a plain object with what it holds" : undefined;
}

function nameOf(value: object): string {
  const { constructor: maker } = value as { readonly constructor?: unknown };
  const name = typeof maker === "function" && maker.name !== "" ? maker.name : "object";
  return `${/^[AEIOU]/i.test(name) ? "an" : "a"} ${name}`;
}

/** The error for what cannot be sent: a bug of the handler, so *Internal error* to the peer. */
export function unsendable(what: string, { path, message }: ParamsFault): TypeError {
  return new TypeError(`${what} cannot be sent: ${path === "" ? "it" : path} ${message}`);
}
