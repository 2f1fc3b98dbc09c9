import { encodeBase64 } from "../../../base/base64.js";
import { checkMembers, type MembersOf } from "../../../base/check-members.js";
import { isObject, type JsonObject, kindOf } from "../../../base/json.js";
import type { MaybePromise } from "../../../base/maybe-promise.js";
import { type ParamsFault, wrongKind } from "../../../jsonrpc/errors.js";
import { annotationMembers, iconMembers } from "../../../protocol/member-tables.js";
import { requireMetaKeys } from "../../../protocol/meta.js";
import { type Bytes, bytesIn, jsonFault, metaFault, shapeFault, unsendable } from "../../../protocol/sendable.js";
import type {
  BlobResourceContents,
  Resource,
  ResourceContents,
  TextResourceContents,
} from "../../../protocol/types/content.js";
import type { ReadResourceResult, ResourceTemplate } from "../../../protocol/types/resources.js";
import type { Context } from "../../context.js";
import type { InputRequired } from "../../input/input-request.js";
import { requireAccess, type ScopedDefinition } from "../../required-scopes.js";
import { type Completers, completersFor } from "../completion.js";
import { type CacheHints, cacheHintMembers, cacheHints } from "../feature.js";
import type { ServedDefinition } from "../registry.js";
import { escapedUri, ownUriFault } from "./uri.js";
import {
  type TemplateVariables,
  type UriTemplateOptions,
  uriTemplate,
  uriTemplateMembers,
  type VariableName,
} from "./uri-template.js";

/** Definition of a resource, and how long its contents may be cached. */
export interface ResourceDefinition extends Partial<Omit<Resource, "uri">>, CacheHints, ScopedDefinition {
  /** Default: the URI. */
  readonly name?: string;
}

const resourceMembers: MembersOf<ResourceDefinition> = {
  ...cacheHintMembers,
  name: ["string"],
  title: ["string"],
  description: ["string", "desc", "summary"],
  mimeType: ["string", "mimetype", "contentType", "type"],
  size: ["number", "bytes"],
  scopes: ["strings", "scope", "requiredScopes", "requireScopes"],
  visible: ["function", "visibility", "isVisible"],
  annotations: annotationMembers,
  icons: iconMembers,
  _meta: ["object", "meta"],
};

/** Reads a resource. */
export type ResourceReader = (uri: string, context: Context) => MaybePromise<ResourceReturn | InputRequired>;

/** A resource as a template lists it. */
export interface ListedResource extends Omit<Resource, "name"> {
  /** Default: the URI. */
  readonly name?: string;
}

/** Definition of a resource template: which resources it lists, and how its variables are completed. */
export interface ResourceTemplateDefinition<Template extends string = string>
  extends Partial<Omit<ResourceTemplate, "uriTemplate">>,
    CacheHints,
    ScopedDefinition,
    UriTemplateOptions {
  /** Default: the template. */
  readonly name?: string;
  /** Resources of the template that `resources/list` returns, after the individually defined ones. Default: none. */
  readonly list?: (context: Context) => MaybePromise<readonly ListedResource[]>;
  /** Suggestions, by the name of the variable. Default: none. */
  readonly complete?: Completers<VariableName<Template>>;
}

const misplaced = {
  uri: "the URI is the first argument",
  uriTemplate: "the template is the first argument",
  read: "the function that reads is the third argument",
  handler: "the function that reads is the third argument",
} as const;

const { size, ...sharedMembers } = resourceMembers;
const templateMembers: MembersOf<ResourceTemplateDefinition> = {
  ...sharedMembers,
  ...uriTemplateMembers,
  list: ["function", "listCallback"],
  complete: ["object", "completers", "completion", "completions"],
};

/** Reads a resource of a family. */
export type ResourceTemplateReader<Template extends string = string> = (
  variables: TemplateVariables<Template>,
  context: Context,
  uri: string,
) => MaybePromise<ResourceReturn | InputRequired>;

/** Something that can be read. */
export interface Readable {
  readonly mimeType: string | undefined;
  readonly cache: CacheHints;
  readonly scopes: readonly string[] | undefined;
  read(context: Context): unknown;
}

/** A resource as it is served. */
export type ServedResource = Readable & ServedDefinition;

/** A template as it is served. */
export interface ServedTemplate extends ServedDefinition {
  readonly completers: Completers;
  readonly list: ResourceTemplateDefinition["list"];
  /** The resource that a URI is of; undefined if it is none of this family. */
  find(uri: string): Readable | undefined;
}

/** @throws TypeError for what is no URI; RangeError for bad cache hints */
export function serveResource(uri: string, definition: ResourceDefinition, read: ResourceReader): ServedResource {
  checkMembers(`The resource ${uri}`, definition, resourceMembers, misplaced);
  const { ttlMs, cacheScope, scopes, visible, ...words } = definition;
  requireAccess(`The resource ${uri}`, definition);
  return {
    shown: listed({ uri, ...words }),
    mimeType: words.mimeType,
    cache: cacheHints(definition),
    scopes,
    visible,
    read: (context) => read(uri, context),
  };
}

/** @throws TypeError for a template that cannot be matched; RangeError for bad cache hints */
export function serveTemplate(
  text: string,
  definition: ResourceTemplateDefinition,
  read: ResourceTemplateReader,
): ServedTemplate {
  checkMembers(`The template ${text}`, definition, templateMembers, misplaced);
  const { ttlMs, cacheScope, traversal, list, complete, scopes, visible, ...words } = definition;
  requireAccess(`The template ${text}`, definition);
  requireMetaKeys(words, `The template ${text}`);
  const template = uriTemplate(text, definition);
  const cache = cacheHints(definition);
  return {
    shown: Object.freeze({ uriTemplate: text, name: text, ...words }),
    completers: completersFor(complete, template.variables, `The template ${text}`),
    scopes,
    visible,
    list: list && (async (context) => inFamily(await list(context), text, words.mimeType)),
    find(uri) {
      const variables = template.match(uri);
      if (variables === undefined) return undefined;
      return {
        mimeType: words.mimeType,
        cache,
        scopes,
        read: (context) => read(withoutUrl(text, variables), context, uri),
      };
    },
  };
}

/**
 * The variables for a reader. `href` is that of the `URL` which readers of the official SDK have first: in JavaScript it would be undefined,
 * and so would be the variables, which that reader takes from the context.
 */
function withoutUrl(template: string, variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (Object.hasOwn(variables, "href")) return variables;
  const get = (): never => {
    const remedy = "write (variables, ctx, uri) => …";
    throw new TypeError(`The template ${template}: the variables come first, and the URI is a string: ${remedy}`);
  };
  return Object.defineProperty(variables, "href", { get });
}

/** The resources that a template lists, each of its MIME type unless it says another. */
function inFamily(given: unknown, template: string, mimeType: string | undefined): readonly ListedResource[] {
  if (!Array.isArray(given)) {
    const fault = wrongKind("", "an array of resources", given);
    const remedy = isObject(given) && Array.isArray(given.resources) ? ": return its member resources" : "";
    throw unsendable(`The list of ${template}`, { ...fault, message: `${fault.message}${remedy}` });
  }
  const resources = given as readonly ListedResource[]; // `listed` looks at each.
  if (mimeType === undefined) return resources;
  return resources.map((each) => (isObject(each) && each.mimeType === undefined ? { ...each, mimeType } : each));
}

/**
 * A resource as a list shows it.
 * @throws TypeError for what is no URI, or no resource at all
 */
function listed(resource: ListedResource): JsonObject {
  const shown: JsonObject = { ...resource, name: resource?.name ?? resource?.uri };
  const { uri } = shown;
  const fault = typeof uri === "string" ? ownUriFault(uri) : undefined;
  if (fault !== undefined) throw new TypeError(`A resource may not be at ${JSON.stringify(uri)}: it ${fault}`);
  const wrong = shapeFault("Resource", shown, "") ?? metaFault(shown._meta, "/_meta");
  if (wrong !== undefined) throw unsendable(`The resource ${String(uri)}`, wrong);
  return Object.freeze(shown);
}

/** A resource of a template's list, whose URI may be made of a name: it is escaped. @throws as `listed` */
export function listedByTemplate(resource: ListedResource): JsonObject {
  const uri: unknown = resource?.uri;
  return listed(typeof uri === "string" ? { ...resource, uri: escapedUri(uri) } : resource);
}

/** Bytes as they are, or in base64. */
export interface BlobContents extends Omit<BlobResourceContents, "uri" | "blob"> {
  /** The URI of the contents. Default: the requested one. */
  readonly uri?: string;
  /** Bytes, or base64 text. */
  readonly blob: Bytes | string;
}

/** Text. */
export interface TextContents extends Omit<TextResourceContents, "uri"> {
  /** The URI of the contents. Default: the requested one. */
  readonly uri?: string;
}

/** One of the contents of a resource. Without a `uri` it is of the one that is read, and of the defined MIME type. */
export type Contents = string | Bytes | TextContents | BlobContents;

/** Contents in any number, and what else the result of a read may carry. */
export interface FullReadResult extends Omit<ReadResourceResult, "contents"> {
  /** The contents: one, or several for a resource such as a folder. */
  readonly contents: readonly Contents[];
}

/** Return value of a resource reader: text, bytes, one or more contents, or a whole result; undefined if the resource does not exist. */
export type ResourceReturn = Contents | readonly Contents[] | FullReadResult | undefined;

/** The URI of a resource, and the MIME type of its contents that have none of their own. */
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
  if ((text === undefined) === (blob === undefined)) {
    const got = text === undefined ? "an object with neither: give other objects as text, with JSON.stringify" : "both";
    throw notContents(of, path, got);
  }
  const body = text === undefined ? { blob: encodedBlob(blob) } : { text };
  const { uri = of.uri } = rest;
  // Other contents, such as the files of a folder, may have another type.
  const isOfResource = typeof uri === "string" && escapedUri(uri) === escapedUri(of.uri);
  const named = { ...(isOfResource ? words(of) : {}), ...rest };
  const contents: JsonObject = { ...named, ...(typeof uri === "string" ? { uri: escapedUri(uri) } : {}), ...body };
  const fault =
    shapeFault("Contents", contents, path) ?? metaFault(rest._meta, `${path}/_meta`) ?? jsonFault(rest, path);
  if (fault !== undefined) throw unreadable(of, fault);
  return contents as unknown as ResourceContents; // Checked just above.
}

function encodedBlob(blob: unknown): unknown {
  const bytes = typeof blob === "string" ? undefined : bytesIn(blob);
  return bytes === undefined ? blob : encodeBase64(bytes);
}

/** The URI of the request, with the escapes that a client may leave out. */
function words({ uri, mimeType }: ReadOf): { readonly uri: string; readonly mimeType?: string } {
  return { uri: escapedUri(uri), ...(mimeType === undefined ? {} : { mimeType }) };
}

function notContents(of: ReadOf, path: string, got: string): TypeError {
  const message = `must be text, bytes, or contents with either text or blob, got ${got}`;
  return unreadable(of, { path, message });
}

function unreadable({ uri }: ReadOf, fault: ParamsFault): TypeError {
  return unsendable(`The contents of ${uri}`, fault);
}
