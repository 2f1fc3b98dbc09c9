import { encodeBase64 } from "../base/base64.js";
import { isObject, kindOf } from "../base/json.js";
import type { BlobResourceContents, ResourceContents, TextResourceContents } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { requireMetaKeys } from "../protocol/meta-keys.js";
import type { ReadResourceResult } from "../protocol/resources.js";

/** Bytes as they are, or in base64. */
export interface BlobContents extends Omit<BlobResourceContents, "uri" | "blob"> {
  readonly uri?: string;
  readonly blob: Uint8Array | string;
}

/** Text. */
export interface TextContents extends Omit<TextResourceContents, "uri"> {
  readonly uri?: string;
}

/** One of the contents of a resource. Without a `uri` it is of the one that is read, and of the defined MIME type. */
export type Contents = string | Uint8Array | TextContents | BlobContents;

/** Contents in any number, and what else the result of a read may carry. */
export interface WholeRead extends Omit<ReadResourceResult, "contents"> {
  readonly contents: readonly Contents[];
}

/** What reading a resource may return: text, bytes, contents in any number, or a whole result; undefined if it does not exist. */
export type ResourceReturn = Contents | readonly Contents[] | WholeRead | undefined;

/** What contents are said to be of where they do not say it themselves. */
export interface ReadOf {
  readonly uri: string;
  readonly mimeType: string | undefined;
}

/**
 * A whole result from whatever a handler has returned.
 * @throws TypeError for what is neither text nor bytes: a bug of the handler
 */
export function readResult(value: unknown, of: ReadOf): JsonObject {
  if (isObject(value) && Array.isArray(value.contents)) {
    requireMetaKeys(value, of.uri);
    return { ...value, contents: value.contents.map((each) => contentsOf(each, of)) };
  }
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return { contents: all.map((each) => contentsOf(each, of)) };
}

function contentsOf(value: unknown, of: ReadOf): ResourceContents {
  if (typeof value === "string") return { ...words(of), text: value };
  if (value instanceof Uint8Array) return { ...words(of), blob: encodeBase64(value) };
  if (!isObject(value)) throw notContents(of, kindOf(value));
  requireMetaKeys(value, of.uri);
  const { text, blob, ...rest } = value;
  const named = typeof rest.uri === "string" ? { ...rest, uri: rest.uri } : { ...words(of), ...rest, uri: of.uri };
  if (typeof text === "string" && blob === undefined) return { ...named, text };
  if (blob instanceof Uint8Array && text === undefined) return { ...named, blob: encodeBase64(blob) };
  if (typeof blob === "string" && text === undefined) return { ...named, blob };
  throw notContents(of, "an object without either text or blob");
}

function words({ uri, mimeType }: ReadOf): { readonly uri: string; readonly mimeType?: string } {
  return mimeType === undefined ? { uri } : { uri, mimeType };
}

function notContents({ uri }: ReadOf, what: string): TypeError {
  return new TypeError(`${uri}: reading it must return text, bytes, or contents with either text or blob, got ${what}`);
}
