import { requireString } from "../../base/check-members.js";
import { methods } from "../../protocol/methods.js";
import type { Resource } from "../../protocol/types/content.js";
import type { ReadResourceResult, ResourceTemplate } from "../../protocol/types/resources.js";
import { checkSubscribe, type SubscribeOptions, type Subscription } from "../subscriptions/subscription.js";
import { type ClientCallOptions, type ClientParts, callOptions, invalidResult } from "./client-parts.js";
import { type ListKind, listing, named, type PaginatedList } from "./paginate.js";

const resources: ListKind = { method: methods.listResources, member: "resources", key: "uri", check: named };
const templates: ListKind = {
  method: methods.listResourceTemplates,
  member: "resourceTemplates",
  key: "uriTemplate",
  check: named,
};

/**
 * The resources of a server.
 * https://modelcontextprotocol.io/specification/latest/server/resources
 */
export class ClientResources {
  readonly #parts: ClientParts;

  /** Created by `Client`. */
  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** Lists the resources of the server, page by page. Resources of templates need not be listed. */
  list(options: ClientCallOptions = {}): PaginatedList<Resource> {
    return listing(this.#parts, resources, options);
  }

  /** Lists the resource templates, page by page. */
  templates(options: ClientCallOptions = {}): PaginatedList<ResourceTemplate> {
    return listing(this.#parts, templates, options);
  }

  /**
   * Reads a resource.
   * @throws RpcError for an unknown resource: −32602 in the stateless era, −32002 before; both have `data.uri`
   */
  async read(uri: string, options: ClientCallOptions = {}): Promise<ReadResourceResult> {
    requireString("client.resources.read: the URI", uri, "write client.resources.read(uri)");
    const result = await this.#parts.call(methods.readResource, { uri }, callOptions(options));
    if (!Array.isArray(result.contents)) throw invalidResult(methods.readResource, "contents is not an array");
    return result as unknown as ReadResourceResult; // Its required member was checked above.
  }

  /** Subscribes to updates of one resource. `Client.subscribe` subscribes to several, and to lists. */
  async subscribe(uri: string, options: SubscribeOptions = {}): Promise<Subscription> {
    checkSubscribe(undefined, options);
    return this.#parts.subscribe({ resourceSubscriptions: [uri] }, options);
  }
}
