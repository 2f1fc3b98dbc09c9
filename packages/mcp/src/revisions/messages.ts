import { notification, type RpcNotification, type RpcRequest, request } from "../jsonrpc/message.js";
import type { ClientCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys } from "../protocol/meta.js";
import type { ParamsByMethod, ParamsByNotification } from "../protocol/method-params.js";
import type { Method, NotificationMethod } from "../protocol/methods.js";
import { describeFault, describeValue } from "../protocol/shapes/shape-fault.js";
import { revisionOf, revisions, versions } from "./all.js";
import type { BySender, Revision } from "./revision.js";
import { checkShape, type MessagePart } from "./shapes.js";

/** What a client says of itself in every request, where requests speak for themselves. */
export interface MessageOptions {
  /** Default: `{ name: "parlance", version: "0.0.0" }`. */
  readonly clientInfo?: Implementation;
  /** Default: none. */
  readonly clientCapabilities?: ClientCapabilities;
}

/** Params may be left out where none of their members must be there. */
type Given<Params> = Record<never, never> extends Params ? [params?: Params] : [params: Params];

/** Makes the messages of a revision. Nothing is sent. */
export interface Messages {
  readonly revision: Revision;
  /**
   * A request, of either side.
   * @throws RangeError for one that the revision does not have; TypeError for an id that is none, and for params that do
   * not fit, naming the places
   */
  request<M extends Method>(id: string | number, method: M, ...given: Given<ParamsByMethod[M]>): RpcRequest;
  /**
   * A notification, of either side.
   * @throws RangeError for one that the revision does not have; TypeError for params that do not fit, naming the places
   */
  notification<M extends NotificationMethod>(method: M, ...given: Given<ParamsByNotification[M]>): RpcNotification;
}

/**
 * Makes valid messages of a revision out of their newest shapes: for tests, tools, and whoever writes frames by hand.
 *
 * @example
 * const messages = messagesOf("2025-06-18");
 * JSON.stringify(messages.request(1, "tools/call", { name: "add", arguments: { a: 2, b: 3 } }));
 *
 * @throws RangeError for a revision that does not exist
 */
export function messagesOf(version: string, options: MessageOptions = {}): Messages {
  const revision = revisionOf(version);
  if (revision === undefined) {
    throw new RangeError(`There is no protocol revision ${JSON.stringify(version)}: one of ${versions.join(", ")} is`);
  }
  return {
    revision,
    request(id, method, ...[params]) {
      const sender = senderOf(revision.requests, method);
      if (sender === undefined) throw noSuch("requests", method, revision);
      if (typeof id !== "string" && !Number.isSafeInteger(id)) {
        const got = describeValue(id);
        throw new TypeError(`${method} in ${revision.version}: id must be a string or a safe integer, got ${got}`);
      }
      const shaped = revision.down("params", method, params);
      const whole =
        revision.era === "stateless" && sender === "client" ? speakingFor(revision, options, shaped) : shaped;
      return request(id, method, asSent(revision, { of: "params", method, sender }, whole));
    },
    notification(method, ...[params]) {
      const sender = senderOf(revision.notifications, method);
      if (sender === undefined) throw noSuch("notifications", method, revision);
      const shaped = revision.down("notification", method, params);
      return notification(method, asSent(revision, { of: "notification", method, sender }, shaped));
    },
  };
}

/** What either side may send has the same shape from both. */
function senderOf(senders: BySender<ReadonlySet<string>>, method: string): keyof BySender<unknown> | undefined {
  if (senders.client.has(method)) return "client";
  return senders.server.has(method) ? "server" : undefined;
}

/**
 * Params with what a request says of its client. Those that cannot hold it stay as they are: the check says why.
 * https://modelcontextprotocol.io/specification/latest/basic#meta
 */
function speakingFor(revision: Revision, options: MessageOptions, params: unknown = {}): unknown {
  if (!isObject(params)) return params;
  const { _meta: meta = {} } = params;
  if (!isObject(meta)) return params;
  const { clientInfo = { name: "parlance", version: "0.0.0" }, clientCapabilities = {} } = options;
  const own = {
    [metaKeys.protocolVersion]: revision.version,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: clientCapabilities,
  };
  return { ...params, _meta: { ...own, ...meta } };
}

/** Params as a frame says them. They are checked like that: JSON has no NaN, and makes text of a date. */
function asSent(
  revision: Revision,
  part: Extract<MessagePart, { readonly method: string }>,
  params: unknown,
): JsonObject | undefined {
  const text: string | undefined = JSON.stringify(params);
  const sent: unknown = text === undefined ? undefined : JSON.parse(text);
  const faults = checkShape(revision, part, sent);
  if (faults.length === 0) return sent as JsonObject | undefined; // All params that have a shape are objects.
  const places = faults.map((fault) => describeFault(fault, "params"));
  throw new TypeError(`${part.method} in ${revision.version}: ${places.join("; ")}`);
}

function noSuch(kind: "requests" | "notifications", method: string, { version, inputRequests }: Revision): RangeError {
  const elsewhere = revisions.filter((each) => senderOf(each[kind], method) !== undefined);
  const where =
    elsewhere.length === 0 ? "no revision has" : `only ${elsewhere.map((each) => each.version).join(", ")} have`;
  const inside = inputRequests.has(method) ? "; here a server asks it inside of a result" : "";
  return new RangeError(`${method} is none of the ${kind} of ${version}: ${where} it${inside}`);
}
