import { encodeBase64 } from "../../../base/base64.js";
import { isObject, kindOf } from "../../../base/json.js";
import type { ParamsFault } from "../../../jsonrpc/errors.js";
import type { JsonObject } from "../../../protocol/json.js";
import { type Bytes, bytesIn, jsonFault, metaFault, shapeFault, unsendable } from "../../../protocol/sendable.js";
import type { BlobResourceContents, ResourceContents, TextResourceContents } from "../../../protocol/types/content.js";
import type { ReadResourceResult } from "../../../protocol/types/resources.js";

/** Bytes as they are, or in base64. */
export interface BlobContents extends Omit<BlobResourceContents, "uri" | "blob"> {
  readonly uri?: string;
  readonly blob: Bytes | string;
}

/** Text. */
export interface TextContents extends Omit<TextResourceContents, "uri"> {
  readonly uri?: string;
}

/** One of the contents of a resource. Without a `uri` it is of the one that is read, and of the defined MIME type. */
export type Contents = string | Bytes | TextContents | BlobContents;

/** Contents in any number, and what else the result of a read may carry. */
export interface FullReadResult extends Omit<ReadResourceResult, "contents"> {
  readonly contents: readonly Contents[];
}

/** Return value of a resource reader: text, bytes, one or more contents, or a whole result; undefined if the resource does not exist. */
export type ResourceReturn = Contents | readonly Contents[] | FullReadResult | undefined;

/** What contents are said to be of where they do not say it themselves. */
export interface ReadOf {
  readonly uri: string;
  readonly mimeType: string | undefined;
}

/**
 * A whole result from whatever a handler has returned, with its bytes in base64.
 * @throws TypeError for what cannot be sent, with the place in the result and the remedy: a bug of the handler
 */
export function readResult(value: unknown, of: ReadOf): JsonObject {
  const whole = isObject(value) && Array.isArray(value.contents) ? value : undefined;
  const given: unknown = whole === undefined ? value : whole.contents;
  const all: readonly unknown[] = Array.isArray(given) ? given : [given];
  const contents = all.map((each, index) => contentsOf(each, of, `/contents/${index}`));
  if (whole === undefined) return { contents };
  const { contents: _, _meta, ...rest } = whole;
  const fault = metaFault(_meta, "/_meta") ?? cacheFault(rest) ?? jsonFault(rest, "");
  if (fault !== undefined) throw unreadable(of, fault);
  return { ...whole, contents };
}

function cacheFault({ ttlMs = 0, cacheScope = "private" }: JsonObject): ParamsFault | undefined {
  return shapeFault("CacheableResult", { resultType: "complete", ttlMs, cacheScope }, "");
}

function contentsOf(value: unknown, of: ReadOf, path: string): ResourceContents {
  if (typeof value === "string") return { ...words(of), text: value };
  const bytes = bytesIn(value);
  if (bytes !== undefined) return { ...words(of), blob: encodeBase64(bytes) };
  if (!isObject(value)) throw notContents(of, path, kindOf(value));
  const { text, blob, ...rest } = value;
  if ((text === undefined) === (blob === undefined)) throw notContents(of, path, "an object with neither or both");
  const body = text === undefined ? { blob: encodedBlob(blob) } : { text };
  // What was asked for is named as it was asked, even where a client leaves out escapes.
  const named = typeof rest.uri === "string" ? { ...rest, uri: rest.uri } : { ...words(of), ...rest, uri: of.uri };
  const isOwnUri = rest.uri !== undefined && rest.uri !== of.uri;
  const contents: JsonObject = { ...named, ...body };
  const fault =
    shapeFault("Contents", { ...contents, uri: isOwnUri ? rest.uri : "x:" }, path) ??
    metaFault(rest._meta, `${path}/_meta`) ??
    jsonFault(rest, path);
  if (fault !== undefined) throw unreadable(of, fault);
  return contents as unknown as ResourceContents; // Checked just above.
}

function encodedBlob(blob: unknown): unknown {
  const bytes = typeof blob === "string" ? undefined : bytesIn(blob);
  return bytes === undefined ? blob : encodeBase64(bytes);
}

function words({ uri, mimeType }: ReadOf): { readonly uri: string; readonly mimeType?: string } {
  return mimeType === undefined ? { uri } : { uri, mimeType };
}

function notContents(of: ReadOf, path: string, got: string): TypeError {
  const message = `must be text, bytes, or contents with either text or blob, got ${got}`;
  return unreadable(of, { path, message });
}

function unreadable({ uri }: ReadOf, fault: ParamsFault): TypeError {
  return unsendable(`The contents of ${uri}`, fault);
}
