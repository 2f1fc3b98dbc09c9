import { kindOf } from "../../base/json.js";
import { encodeValue } from "../../jsonrpc/codec/encode.js";
import { type ParamsFault, thrownText } from "../../jsonrpc/errors.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import {
  contentFault,
  encodeBytes,
  firstFault,
  jsonFault,
  metaFault,
  type SendableContent,
  unsendable,
} from "../../protocol/sendable.js";
import type { ContentBlock } from "../../protocol/types/content.js";
import type { CallToolResult } from "../../protocol/types/tools.js";

/** A whole result as a handler may give it: the data of images, audio and embedded resources may be bytes. */
export interface SendableResult extends Omit<CallToolResult, "content"> {
  /** The content blocks, for the model; binary data may be bytes. */
  readonly content: readonly SendableContent[];
}

/**
 * JSON of a tool's own: objects, values of interfaces and of classes with fields among them, and arrays. Not what JSON
 * would write as `{}`: a Map, a Set, an Error, a Response, a function, a promise, bytes. A member is typed here only if
 * such a value is known by it; what is inside of an object is checked when it is returned.
 */
export type JsonReturn =
  | JsonObjectReturn
  | readonly (JsonObjectReturn | JsonReturn | string | number | boolean | null)[];

type NotAnError = { readonly stack?: never } | { readonly message?: never } | { readonly name?: never };

// `object` keeps it from being a weak type, which an interface without any of these members would not fit.
type JsonObjectReturn = object &
  NotAnError & {
    /** With an array it says that it is a whole result. */
    readonly content?: string | number | boolean | null | (object & { readonly length?: never });
    readonly [Symbol.iterator]?: never;
    readonly [Symbol.toStringTag]?: never;
    readonly [Symbol.hasInstance]?: never;
    readonly arrayBuffer?: never;
  };

/**
 * The results of a tool without an output schema: text, a block, blocks, a whole result, or JSON of its own. That is no
 * `JsonObject`, which values of an interface are not, and beside which the literals in a block widen.
 */
export type ToolReturn =
  | string
  | SendableContent
  | readonly SendableContent[]
  | SendableResult
  | JsonReturn
  // biome-ignore lint/suspicious/noConfusingVoidType: it is the return type of a handler without `return`, whose result is empty.
  | void;

const blockTypes: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource_link", "resource"]);

/**
 * A whole result from whatever a handler without an output schema has returned.
 * @param tool its name, for the message
 * @throws TypeError for what cannot be sent, with the place in the result and the remedy
 */
export function resultOf(value: unknown, tool: string): CallToolResult {
  if (value === undefined) return { content: [] };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  if (isBlock(value)) return checkedResult({ content: [value] }, tool);
  if (Array.isArray(value)) {
    if (value.every(isBlock)) return checkedResult({ content: value }, tool);
    const mixed = value.some(isBlock) ? firstFault(value, strayFault) : undefined;
    if (mixed !== undefined) throw unsendable(resultName(tool), mixed);
  }
  if (isObject(value) && Array.isArray(value.content)) return checkedResult(value, tool); // It says that it is one.
  return structuredResult(value, tool);
}

/** True for a result that says everything itself, where an output schema would let structured output be returned alone. */
export function isWholeResult(value: unknown): value is CallToolResult {
  return isObject(value) && Array.isArray(value.content) && ("structuredContent" in value || value.isError === true);
}

/**
 * Structured output, with the same as text for clients and models that do not read it.
 * @throws TypeError for what is not JSON
 */
export function structuredResult(value: unknown, tool: string): CallToolResult {
  const fault = jsonFault(value, "/structuredContent");
  if (fault !== undefined) throw unsendable(resultName(tool), fault);
  const structuredContent = asWritten(value);
  return { content: [{ type: "text", text: encodeValue(structuredContent) }], structuredContent };
}

/**
 * A result that says everything itself, with its bytes in base64.
 * @throws TypeError for what cannot be sent
 */
export function checkedResult(result: object, tool: string): CallToolResult {
  const given = result as JsonObject; // An interface has no index signature; JSON objects do.
  const content = encodeBytes(given.content);
  const fault = contentFault(content, "/content") ?? membersFault(given);
  if (fault !== undefined) throw unsendable(resultName(tool), fault);
  const encoded = content === given.content ? given : { ...given, content };
  const { structuredContent } = encoded;
  const written = asWritten(structuredContent);
  // Checked above, member by member.
  return (written === structuredContent
    ? encoded
    : { ...encoded, structuredContent: written }) as unknown as CallToolResult;
}

function membersFault(result: JsonObject): ParamsFault | undefined {
  for (const name in result) {
    const fault = name === "content" || !Object.hasOwn(result, name) ? undefined : memberFault(name, result[name]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function memberFault(name: string, value: unknown): ParamsFault | undefined {
  const path = `/${name}`;
  if (value === undefined) return undefined;
  if (name === "_meta") return metaFault(value, path);
  if (name === "isError" && typeof value !== "boolean")
    return { path, message: `must be a boolean, got ${kindOf(value)}` };
  if (name === "resultType" && value !== "complete") {
    return { path, message: 'must be "complete" or left out: return inputRequired(…) to ask the client' };
  }
  return jsonFault(value, path);
}

function strayFault(value: unknown, index: number): ParamsFault | undefined {
  if (isBlock(value)) return undefined;
  const types = [...blockTypes].map((type) => JSON.stringify(type)).join(", ");
  const message = `must be a content block, as other elements are, got ${kindOf(value)}: its type is one of ${types}`;
  return { path: `/content/${index}`, message };
}

/** The JSON of a value with a `toJSON`; its kind decides how a revision represents it. */
function asWritten(value: unknown): unknown {
  const hasToJson = isObject(value) && typeof value.toJSON === "function";
  return hasToJson ? (value.toJSON as (key: string) => unknown).call(value, "") : value;
}

/** A failure that the model can read. */
export function errorResult(content: readonly SendableContent[]): SendableResult {
  return { content, isError: true };
}

function resultName(tool: string): string {
  return `The result of the tool ${tool}`;
}

function isBlock(value: unknown): value is ContentBlock {
  return isObject(value) && blockTypes.has(value.type);
}

/**
 * Whether the model sees an error that a tool throws, other than a `ToolError` or an `RpcError`. `"internal"`: it does not, the host
 * gets −32603 *Internal error*. `"message"`: a result with `isError` and the error's message.
 */
export type ToolErrors = "internal" | "message";

/**
 * A tool has failed, and the model shall know why: becomes a result with `isError: true`.
 * For a fault of the protocol throw an `RpcError`; anything else that a handler throws is *Internal error* to the client,
 * unless the server is made with `toolErrors: "message"`.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** The content blocks that the model sees. */
  readonly content: readonly SendableContent[];

  /** @param content what the model reads: a sentence, or blocks; the first text is also the message */
  constructor(content: string | readonly SendableContent[], options?: ErrorOptions) {
    const blocks: readonly SendableContent[] =
      typeof content === "string" ? [{ type: "text", text: content }] : content;
    const text = blocks.find((block) => block.type === "text");
    super(text?.text ?? "the tool failed", options);
    this.content = blocks;
  }

  /**
   * A ToolError with the message of anything thrown, which becomes its cause; one that is a ToolError already is given back. For
   * errors that are known to be safe to show: a message may hold paths, queries, hosts or secrets.
   *
   * @example
   * const page = await fetch(url).catch((error) => {
   *   throw ToolError.from(error);
   * });
   */
  static from(thrown: unknown): ToolError {
    if (thrown instanceof ToolError) return thrown;
    const text = thrown instanceof Error ? thrown.message || thrown.name : thrownText(thrown);
    return new ToolError(text, { cause: thrown });
  }
}
