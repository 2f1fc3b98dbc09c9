import type { MembersOf } from "../base/check-members.js";
import { isObject } from "../base/json.js";
import { codes } from "./errors.js";
import type { ErrorObject, Params, RpcNotification, RpcRequest } from "./message.js";

/** The notification that cancels a request, and the response to a cancelled request. */
export interface Cancellation {
  /** The method of the notification that cancels a request. */
  readonly method: string;
  /** The member of its params that holds the request's id. */
  readonly idMember: string;
  /**
   * The error that answers a cancelled request. JSON-RPC 2.0 owes every request an answer, and callers of other libraries
   * wait for it. `null`: the request is not answered, as MCP has it. Default: −32800 *Request cancelled*.
   */
  readonly error?: ErrorObject | null;
}

/**
 * Cancellation as in the Language Server Protocol: `$/cancelRequest`, answered with −32800.
 * https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#cancelRequest
 *
 * @example
 * openConnection(channel, { handle: service.call, cancellation: lspCancellation });
 */
export const lspCancellation: Cancellation = { method: "$/cancelRequest", idMember: "id" };

/** The error that answers a cancelled request; undefined for silence. */
export function cancelledError({ error }: Cancellation): ErrorObject | undefined {
  return error === null ? undefined : (error ?? requestCancelled);
}

const requestCancelled: ErrorObject = { code: codes.requestCancelled, message: "Request cancelled" };

/** Receives a notification of the peer. Errors it throws or rejects with are reported. */
export type NotificationListener = (method: string, params: Params | undefined) => unknown;

/** How a connection handles received messages. */
export interface Routing {
  /** Other names of methods and params that are accepted in received messages. Default: none. */
  readonly aliases?: MethodAliases | undefined;
  /** Receives notifications of the peer. Default: `handle` runs them and no response is sent, as in plain JSON-RPC. */
  readonly onNotification?: NotificationListener;
  /** Methods of calls that stay open until either side ends them: `limits.listening` bounds them, and `limits.running` does not. Default: none. */
  readonly longLived?: ReadonlySet<string>;
  /** How either side cancels a request. Default: it cannot; a cancelled call only stops waiting. */
  readonly cancellation?: Cancellation;
  /** The tag of the call of this side that a notification belongs to (`CallOptions.tag`), or undefined. */
  readonly relatedTo?: (method: string, params: Params | undefined) => string | number | undefined;
  /** False for a side that only calls: it reports frames that are no messages, and writes no answer to them. Default: true. */
  readonly answersUnreadable?: boolean;
}

/** The members of `Routing`, for the check of options. */
export const routingMembers: MembersOf<Routing> = {
  aliases: ["object"],
  onNotification: ["function", "onnotification", "notification"],
  longLived: ["object"],
  cancellation: ["object", "cancel"],
  relatedTo: ["function"],
  answersUnreadable: ["boolean"],
};

/** The method of MCP for a method name that tutorials and other protocols use. */
export interface MethodAlias {
  /** The correct method. */
  readonly method: string;
  /** Members of params with another name too, from that name to the correct one. */
  readonly params?: Readonly<Record<string, string>>;
}

/** Methods by their other names. */
export type MethodAliases = ReadonlyMap<string, MethodAlias>;

/** The message with the correct names. For received messages only: this side never sends an alias. */
export function realNames<M extends RpcRequest | RpcNotification>(message: M, aliases: MethodAliases): M {
  const alias = aliases.get(message.method);
  if (alias === undefined) return message;
  const { params } = message;
  return {
    ...message,
    method: alias.method,
    ...(params === undefined ? {} : { params: renamed(params, alias.params) }),
  };
}

function renamed(params: Params, names: Readonly<Record<string, string>> = {}): Params {
  if (!isObject(params)) return params;
  const members = Object.entries(params).map(([name, value]) => [
    Object.hasOwn(names, name) ? names[name] : name,
    value,
  ]);
  return Object.fromEntries(members) as Params; // Renamed members of an object make an object.
}
