import { isObject, type JsonObject } from "../../base/json.js";
import { notification, type RpcNotification, type RpcRequest, request } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../capabilities.js";
import { metaKeys } from "../meta.js";
import type { ParamsByMethod, ParamsByNotification } from "../method-params.js";
import type { Method, NotificationMethod } from "../methods.js";
import { describeFault, describeValue } from "../shapes/shape-fault.js";
import type { Implementation } from "../types/implementation.js";
import { knownRevision, revisions } from "./all.js";
import type { BySender, Revision } from "./revision.js";
import { checkShape, type MessagePart } from "./shapes.js";

/** The client's description in each request of a stateless revision. */
export interface MessageOptions {
  /** Default: `{ name: "parlance", version: "0.0.0" }`. */
  readonly clientInfo?: Implementation;
  /** Default: none. */
  readonly clientCapabilities?: ClientCapabilities;
}

/** Params may be omitted if none of their members is required. */
type Given<Params> = Record<never, never> extends Params ? [params?: Params] : [params: Params];

/** Creates messages of one revision. Nothing is sent. */
export interface Messages {
  /** The revision that the messages are built for. */
  readonly revision: Revision;
  /**
   * Creates a request from either side.
   * @throws RangeError if the revision has no such request; TypeError for an invalid id, and for params that do not
   * fit, naming the places
   */
  request<M extends Method>(id: string | number, method: M, ...given: Given<ParamsByMethod[M]>): RpcRequest;
  /**
   * Creates a notification from either side.
   * @throws RangeError if the revision has no such notification; TypeError for params that do not fit, naming the
   * places
   */
  notification<M extends NotificationMethod>(method: M, ...given: Given<ParamsByNotification[M]>): RpcNotification;
}

/**
 * Creates valid messages of a revision from their newest shapes, for tests, tools and hand-written frames.
 *
 * @example
 * const messages = messagesOf("2025-06-18");
 * JSON.stringify(messages.request(1, "tools/call", { name: "add", arguments: { a: 2, b: 3 } }));
 *
 * @throws RangeError for an unknown revision
 */
export function messagesOf(version: string, options: MessageOptions = {}): Messages {
  const revision = knownRevision(version);
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

/** Methods that both sides may send have the same shape from both. */
function senderOf(senders: BySender<ReadonlySet<string>>, method: string): keyof BySender<unknown> | undefined {
  if (senders.client.has(method)) return "client";
  return senders.server.has(method) ? "server" : undefined;
}

/**
 * Adds the `_meta` of stateless requests to params. Params that are not an object stay as they are, and the check below
 * reports them.
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

/** Converts params to the JSON that is sent, and checks that: JSON has no NaN, and writes a date as text. */
function asSent(
  revision: Revision,
  part: Extract<MessagePart, { readonly method: string }>,
  params: unknown,
): JsonObject | undefined {
  const text: string | undefined = JSON.stringify(params);
  const sent: unknown = text === undefined ? undefined : JSON.parse(text);
  const faults = checkShape(revision, part, sent);
  if (faults.length === 0) return sent as JsonObject | undefined; // Every params shape is an object.
  const places = faults.map((fault) => describeFault(fault, "params"));
  throw new TypeError(`${part.method} in ${revision.version}: ${places.join("; ")}`);
}

function noSuch(kind: "requests" | "notifications", method: string, { version, inputRequests }: Revision): RangeError {
  const elsewhere = revisions.filter((each) => senderOf(each[kind], method) !== undefined);
  const where =
    elsewhere.length === 0 ? "no revision has" : `only ${elsewhere.map((each) => each.version).join(", ")} have`;
  const inside = inputRequests.has(method) ? "; there it is an input request inside a result" : "";
  return new RangeError(`${method} is not among the ${kind} of ${version}: ${where} it${inside}`);
}
