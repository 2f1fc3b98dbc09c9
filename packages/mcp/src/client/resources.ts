import type { OpenedCall } from "../lifecycle/opened.js";
import type { Resource } from "../protocol/content.js";
import { methods } from "../protocol/methods.js";
import type { ReadResourceResult, ResourceTemplate } from "../protocol/resources.js";
import { type Listing, type ListKind, listing } from "./paginate.js";
import type { Subscribe, SubscribeOptions, Subscription } from "./subscription.js";
import { callOptions, invalidAnswer, type VerbOptions } from "./verb-options.js";

const resources: ListKind = { method: methods.listResources, member: "resources", strings: ["uri", "name"] };
const templates: ListKind = {
  method: methods.listResourceTemplates,
  member: "resourceTemplates",
  strings: ["uriTemplate", "name"],
};

/**
 * The resources of a server.
 * https://modelcontextprotocol.io/specification/latest/server/resources
 */
export class ResourceVerbs {
  readonly #call: OpenedCall;
  readonly #subscribe: Subscribe;

  /** Made by `Client`. */
  constructor(call: OpenedCall, subscribe: Subscribe) {
    this.#call = call;
    this.#subscribe = subscribe;
  }

  /** The resources that the server lists, page by page. Those of templates need not be among them. */
  list(options: VerbOptions = {}): Listing<Resource> {
    return listing(this.#call, resources, options);
  }

  /** The families of resources, page by page. */
  templates(options: VerbOptions = {}): Listing<ResourceTemplate> {
    return listing(this.#call, templates, options);
  }

  /**
   * Reads a resource.
   * @throws RpcError for one that does not exist: −32602 in the stateless era, −32002 before; both have `data.uri`
   */
  async read(uri: string, options: VerbOptions = {}): Promise<ReadResourceResult> {
    const result = await this.#call(methods.readResource, { uri }, callOptions(options));
    if (!Array.isArray(result.contents)) throw invalidAnswer(methods.readResource, "contents is not an array");
    return result as unknown as ReadResourceResult; // What a caller dereferences first is checked just above.
  }

  /** Hears of changes of one resource. `Client.subscribe` does it for several, and for lists. */
  subscribe(uri: string, options: SubscribeOptions = {}): Promise<Subscription> {
    return this.#subscribe({ resourceSubscriptions: [uri] }, options);
  }
}
