import { checkMembers, type MembersOf } from "../../../base/check-members.js";
import type { MaybePromise } from "../../../base/maybe-promise.js";
import { isObject, type JsonObject } from "../../../protocol/json.js";
import { annotationMembers, iconMembers } from "../../../protocol/member-tables.js";
import { requireMetaKeys } from "../../../protocol/meta-keys.js";
import { metaFault, shapeFault, unsendable } from "../../../protocol/sendable.js";
import type { Resource } from "../../../protocol/types/content.js";
import type { ResourceTemplate } from "../../../protocol/types/resources.js";
import type { Context } from "../../context.js";
import type { InputRequired } from "../../input/rounds.js";
import { type CacheHints, cacheHintMembers, cacheHints } from "../cache-hints.js";
import { type Completers, completersFor } from "../completion.js";
import { wrongKind } from "../wrong-kind.js";
import type { ResourceReturn } from "./resource-contents.js";
import { ownUriFault } from "./uri.js";
import {
  type TemplateVariables,
  type UriTemplateOptions,
  uriTemplate,
  uriTemplateMembers,
  type VariableName,
} from "./uri-template.js";

/** Definition of a resource, and how long its contents may be cached. */
export interface ResourceDefinition extends Partial<Omit<Resource, "uri">>, CacheHints {
  /** Default: the URI. */
  readonly name?: string;
}

const resourceMembers: MembersOf<ResourceDefinition> = {
  ...cacheHintMembers,
  name: [],
  title: [],
  description: ["desc", "summary"],
  mimeType: ["mimetype", "contentType", "type"],
  size: ["bytes"],
  annotations: annotationMembers,
  icons: iconMembers,
  _meta: ["meta"],
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
    UriTemplateOptions {
  /** Default: the template. */
  readonly name?: string;
  /** Resources of the template that `resources/list` returns, after the individually defined ones. */
  readonly list?: (context: Context) => MaybePromise<readonly ListedResource[]>;
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
  list: ["listCallback"],
  complete: ["completers", "completion", "completions"],
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
  read(context: Context): unknown;
}

/** A resource as it is served. */
export interface ServedResource extends Readable {
  readonly shown: JsonObject;
}

/** A template as it is served. */
export interface ServedTemplate {
  readonly shown: JsonObject;
  readonly completers: Completers;
  readonly list: ResourceTemplateDefinition["list"];
  /** The resource that a URI is of; undefined if it is none of this family. */
  find(uri: string): Readable | undefined;
}

/** @throws TypeError for what is no URI; RangeError for bad cache hints */
export function serveResource(uri: string, definition: ResourceDefinition, read: ResourceReader): ServedResource {
  checkMembers(`The resource ${uri}`, definition, resourceMembers, misplaced);
  const { ttlMs, cacheScope, ...words } = definition;
  return {
    shown: listed({ uri, ...words }),
    mimeType: words.mimeType,
    cache: cacheHints(definition),
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
  const { ttlMs, cacheScope, traversal, list, complete, ...words } = definition;
  requireMetaKeys(words, `The template ${text}`);
  const template = uriTemplate(text, definition);
  const cache = cacheHints(definition);
  return {
    shown: Object.freeze({ uriTemplate: text, name: text, ...words }),
    completers: completersFor(complete, template.variables, `The template ${text}`),
    list: list && (async (context) => inFamily(await list(context), text, words.mimeType)),
    find(uri) {
      const variables = template.match(uri);
      if (variables === undefined) return undefined;
      return { mimeType: words.mimeType, cache, read: (context) => read(variables, context, uri) };
    },
  };
}

/** The resources that a template lists, each of its MIME type unless it says another. */
function inFamily(given: unknown, template: string, mimeType: string | undefined): readonly ListedResource[] {
  if (!Array.isArray(given)) {
    throw unsendable(`The list of ${template}`, wrongKind("", "an array of resources", given));
  }
  const resources = given as readonly ListedResource[]; // `listed` looks at each.
  if (mimeType === undefined) return resources;
  return resources.map((each) => (isObject(each) && each.mimeType === undefined ? { ...each, mimeType } : each));
}

/**
 * A resource as a list shows it.
 * @throws TypeError for what is no URI, or no resource at all
 */
export function listed(resource: ListedResource): JsonObject {
  const shown: JsonObject = { ...resource, name: resource?.name ?? resource?.uri };
  const { uri } = shown;
  const fault = typeof uri === "string" ? ownUriFault(uri) : undefined;
  if (fault !== undefined) throw new TypeError(`A resource may not be at ${JSON.stringify(uri)}: it ${fault}`);
  const wrong = shapeFault("Resource", shown, "") ?? metaFault(shown._meta, "/_meta");
  if (wrong !== undefined) throw unsendable(`The resource ${String(uri)}`, wrong);
  return Object.freeze(shown);
}
