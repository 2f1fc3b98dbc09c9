import type { MaybePromise } from "../base/later.js";
import type { InputRequired } from "../lifecycle/rounds.js";
import type { Resource } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { requireMetaKeys } from "../protocol/meta-keys.js";
import type { ResourceTemplate } from "../protocol/resources.js";
import { type CacheHints, cacheHints } from "./cache-hints.js";
import { type Completers, completersFor } from "./completion.js";
import type { Context } from "./context.js";
import type { ResourceReturn } from "./resource-contents.js";
import { ownUriFault } from "./uri.js";
import { type TemplateVariables, type UriTemplateOptions, uriTemplate, type VariableName } from "./uri-template.js";

/** What a resource is, and how long its contents may be kept. */
export interface ResourceDefinition extends Partial<Omit<Resource, "uri">>, CacheHints {
  /** Default: the URI. */
  readonly name?: string;
}

/** Reads a resource. */
export type ResourceReader = (uri: string, context: Context) => MaybePromise<ResourceReturn | InputRequired>;

/** A resource as a template lists it. */
export interface ListedResource extends Omit<Resource, "name"> {
  /** Default: the URI. */
  readonly name?: string;
}

/** What a family of resources is, which of them are listed, and how its variables are completed. */
export interface ResourceTemplateDefinition<Template extends string = string>
  extends Partial<Omit<ResourceTemplate, "uriTemplate">>,
    CacheHints,
    UriTemplateOptions {
  /** Default: the template. */
  readonly name?: string;
  /** Resources of the family that `resources/list` names, behind those that are defined one by one. */
  readonly list?: (context: Context) => MaybePromise<readonly ListedResource[]>;
  readonly complete?: Completers<VariableName<Template>>;
}

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
  const { ttlMs, cacheScope, traversal, list, complete, ...words } = definition;
  requireMetaKeys(words, `The template ${text}`);
  const template = uriTemplate(text, definition);
  const cache = cacheHints(definition);
  return {
    shown: Object.freeze({ uriTemplate: text, name: text, ...words }),
    completers: completersFor(complete, template.variables, `The template ${text}`),
    list,
    find(uri) {
      const variables = template.match(uri);
      if (variables === undefined) return undefined;
      return { mimeType: words.mimeType, cache, read: (context) => read(variables, context, uri) };
    },
  };
}

/**
 * A resource as a list shows it.
 * @throws TypeError for what is no URI
 */
export function listed(resource: ListedResource): JsonObject {
  const fault = ownUriFault(resource.uri);
  if (fault !== undefined) throw new TypeError(`A resource may not be at ${JSON.stringify(resource.uri)}: it ${fault}`);
  requireMetaKeys(resource, `The resource ${resource.uri}`);
  return Object.freeze({ ...resource, name: resource.name ?? resource.uri });
}
