import type { Reporter } from "../../jsonrpc/report.js";
import { methods } from "../../protocol/methods.js";
import type { Resource } from "../../protocol/types/content.js";
import type { ReadResourceResult, ResourceTemplate } from "../../protocol/types/resources.js";
import type { SessionCall } from "../session/client-session.js";
import {
  checkSubscribe,
  type Subscribe,
  type SubscribeOptions,
  type Subscription,
} from "../subscriptions/subscription.js";
import { type ListHost, type ListKind, listing, named, type PaginatedList } from "./paginate.js";
import { type ClientCallOptions, callOptions, invalidResult } from "./verb-options.js";

const resources: ListKind = {
  method: methods.listResources,
  member: "resources",
  key: "uri",
  check: (item) => named(item, "uri"),
};
const templates: ListKind = {
  method: methods.listResourceTemplates,
  member: "resourceTemplates",
  key: "uriTemplate",
  check: (item) => named(item, "uriTemplate"),
};

/**
 * The resources of a server.
 * https://modelcontextprotocol.io/specification/latest/server/resources
 */
export class ClientResources {
  readonly #call: SessionCall;
  readonly #report: Reporter;
  readonly #subscribe: Subscribe;

  /** Made by `Client`. */
  constructor({ call, report }: ListHost, subscribe: Subscribe) {
    this.#call = call;
    this.#report = report;
    this.#subscribe = subscribe;
  }

  /** The resources that the server lists, page by page. Those of templates need not be among them. */
  list(options: ClientCallOptions = {}): PaginatedList<Resource> {
    return listing({ call: this.#call, report: this.#report }, resources, options);
  }

  /** The families of resources, page by page. */
  templates(options: ClientCallOptions = {}): PaginatedList<ResourceTemplate> {
    return listing({ call: this.#call, report: this.#report }, templates, options);
  }

  /**
   * Reads a resource.
   * @throws RpcError for one that does not exist: −32602 in the stateless era, −32002 before; both have `data.uri`
   */
  async read(uri: string, options: ClientCallOptions = {}): Promise<ReadResourceResult> {
    const result = await this.#call(methods.readResource, { uri }, callOptions(options));
    if (!Array.isArray(result.contents)) throw invalidResult(methods.readResource, "contents is not an array");
    return result as unknown as ReadResourceResult; // What a caller dereferences first is checked just above.
  }

  /** Hears of changes of one resource. `Client.subscribe` does it for several, and for lists. */
  async subscribe(uri: string, options: SubscribeOptions = {}): Promise<Subscription> {
    checkSubscribe(undefined, options);
    return this.#subscribe({ resourceSubscriptions: [uri] }, options);
  }
}
