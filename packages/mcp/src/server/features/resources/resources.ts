import type { JsonObject } from "../../../base/json.js";
import { andThen, type MaybePromise } from "../../../base/maybe-promise.js";
import type { Authentication } from "../../../jsonrpc/call.js";
import { codes, RpcError, wrongKind } from "../../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../../protocol/capabilities.js";
import { methods } from "../../../protocol/methods.js";
import { Context } from "../../context.js";
import { type ErrorCodes, missingCodes } from "../../error-codes.js";
import { InputRequired } from "../../input/input-request.js";
import { hasScopes, requireScopes } from "../../required-scopes.js";
import type { Operation } from "../../servable.js";
import type { Completed, CompletionSource } from "../completion.js";
import { requireArguments } from "../definition-arguments.js";
import type { Feature, FeatureSettings, MethodCall } from "../feature.js";
import { pageOf } from "../paginate.js";
import { type Registration, Registry } from "../registry.js";
import {
  listedByTemplate,
  type Readable,
  type ResourceDefinition,
  type ResourceReader,
  type ResourceTemplateDefinition,
  type ResourceTemplateReader,
  readResult,
  type ServedResource,
  type ServedTemplate,
  serveResource,
  serveTemplate,
} from "./resource-definitions.js";
import { uriFault } from "./uri.js";

/**
 * Resources: what a client can read, one by one or in families that share a URI template.
 * https://modelcontextprotocol.io/specification/latest/server/resources
 */
export class Resources implements Feature, CompletionSource {
  readonly #resources: Registry<ServedResource>;
  readonly #templates: Registry<ServedTemplate>;
  readonly #allowsSubscriptions: boolean;
  readonly #errorCodes: ErrorCodes;
  readonly methods: ReadonlyMap<string, MethodCall>;
  completes = false;

  /** @param allowsSubscriptions whether clients may subscribe */
  constructor(settings: FeatureSettings, allowsSubscriptions: boolean) {
    this.#allowsSubscriptions = allowsSubscriptions;
    this.#errorCodes = settings.errorCodes;
    this.#resources = new Registry(settings, { member: "resources", key: "uri", word: "resource", list: "resources" });
    this.#templates = new Registry(settings, {
      member: "resourceTemplates",
      key: "uriTemplate",
      word: "resource template",
      list: "resources",
    });
    this.methods = new Map<string, MethodCall>([
      [methods.listResources, (params, operation) => this.#list(params, operation)],
      [methods.listResourceTemplates, ({ cursor }, { auth }) => this.#templates.page(cursor, auth)],
      [methods.readResource, (params, operation) => this.#read(params, operation)],
      ...(allowsSubscriptions ? this.#subscriptionMethods() : []),
    ]);
  }

  get capabilities(): ServerCapabilities | undefined {
    if (!this.#resources.isOffered && !this.#templates.isOffered) return undefined;
    return { resources: { ...(this.#allowsSubscriptions ? { subscribe: true } : {}), listChanged: true } };
  }

  /** The scopes that resources and templates require. */
  get scopes(): readonly string[] {
    return [...this.#resources.entries(), ...this.#templates.entries()].flatMap(({ scopes = [] }) => scopes);
  }

  completersOf(uri: string, { auth }: Operation): Completed | undefined {
    const resource = this.#resources.get(uri, auth);
    return this.#templates.get(uri, auth) ?? (resource && { completers: {}, scopes: resource.scopes });
  }

  define(uri: string, definition: ResourceDefinition, read: ResourceReader): Registration<ResourceDefinition> {
    requireArguments("resource", uri, definition, read);
    return this.#resources.add(uri, definition, (revised) => serveResource(uri, revised, read));
  }

  defineTemplate(
    template: string,
    definition: ResourceTemplateDefinition,
    read: ResourceTemplateReader,
  ): Registration<ResourceTemplateDefinition> {
    requireArguments("resourceTemplate", template, definition, read);
    return this.#templates.add(template, definition, (revised) => {
      const served = serveTemplate(template, revised, read);
      this.completes ||= Object.keys(served.completers).length > 0;
      return served;
    });
  }

  /** Whether there is such a resource, or could be by a template, that the caller may read. */
  knows(uri: string, operation: Operation): boolean {
    const found = uriFault(uri) === undefined ? this.#find(uri, operation) : undefined;
    return found !== undefined && hasScopes(found.scopes, operation);
  }

  /**
   * Whether a caller may learn of changes of a resource: the caller may read it now, whatever was so when the caller subscribed; or no
   * definition is of that URI, because a middleware serves it, or it was removed.
   */
  mayLearnOf(uri: string, auth: Authentication): boolean {
    const found = this.#find(uri, { auth });
    if (found !== undefined) return hasScopes(found.scopes, { auth });
    if (this.#resources.has(uri)) return false;
    return !Array.from(this.#templates.definitions()).some((template) => template.find(uri) !== undefined);
  }

  /** One by one before families, and families in the order of their definition. */
  #find(uri: string, { auth }: Pick<Operation, "auth">): Readable | undefined {
    const resource = this.#resources.get(uri, auth);
    if (resource !== undefined) return resource;
    for (const template of this.#templates.entries(auth)) {
      const found = template.find(uri);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #list(params: JsonObject, operation: Operation): MaybePromise<JsonObject> {
    const { auth } = operation;
    const lists = Array.from(this.#templates.entries(auth), ({ list }) => list).filter((list) => list !== undefined);
    const isPrivate = this.#resources.differs || this.#templates.differs;
    if (lists.length === 0) {
      const page = this.#resources.page(params.cursor, auth);
      return isPrivate ? { ...page, cacheScope: "private" } : page;
    }
    const context = new Context(operation, params);
    return Promise.all(lists.map(async (list) => list(context))).then((families) => {
      const all = [...this.#resources.items(auth), ...families.flat().map(listedByTemplate)];
      const { result } = pageOf(withoutRepetition(all), params.cursor, this.#resources.shape);
      return isPrivate ? { ...result, cacheScope: "private" } : result;
    });
  }

  #read(params: JsonObject, operation: Operation): unknown {
    const uri = this.#readUri(params, operation);
    const found = this.#require(uri, operation);
    return andThen(found.read(new Context(operation, params)), (value) => {
      if (value instanceof InputRequired) return value;
      if (value === undefined) throw this.#notFound(uri, operation);
      return { ...found.cache, ...readResult(value, { uri, mimeType: found.mimeType }) };
    });
  }

  /** @throws RpcError if there is no such resource, or the caller may not read it */
  #require(uri: string, operation: Operation): Readable {
    const found = this.#find(uri, operation);
    if (found === undefined) throw this.#notFound(uri, operation);
    requireScopes(`the resource ${uri}`, found.scopes, operation);
    return found;
  }

  /** The session keeps the subscriptions; this says whether a client may subscribe. */
  #subscriptionMethods(): readonly (readonly [string, MethodCall])[] {
    return [
      [
        methods.subscribe,
        (params, operation) => {
          this.#require(this.#readUri(params, operation), operation);
          return {};
        },
      ],
      [
        methods.unsubscribe,
        (params, operation) => {
          this.#readUri(params, operation);
          return {};
        },
      ],
    ];
  }

  #readUri({ uri }: JsonObject, { revision }: Operation): string {
    const { message } = typeof uri === "string" ? { message: uriFault(uri) } : wrongKind("/uri", "a string", uri);
    if (message === undefined) return uri as string; // It is one: that is no fault.
    const code = typeof uri === "string" ? missingCodes(this.#errorCodes, revision).invalidUri : codes.invalidParams;
    // Most hosts show the message alone.
    throw new RpcError(code, `Invalid params: uri ${message}`, { errors: [{ path: "/uri", message }] });
  }

  /** https://modelcontextprotocol.io/specification/latest/server/resources#error-handling */
  #notFound(uri: string, { revision }: Operation): RpcError {
    return new RpcError(missingCodes(this.#errorCodes, revision).resource, "Resource not found", { uri });
  }
}

function withoutRepetition(resources: readonly JsonObject[]): readonly JsonObject[] {
  const seen = new Set<unknown>();
  return resources.filter(({ uri }) => !seen.has(uri) && seen.add(uri));
}
