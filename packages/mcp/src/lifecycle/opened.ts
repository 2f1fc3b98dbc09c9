import type { ConnectionState } from "../jsonrpc/connection.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import type { LoggingLevel } from "../protocol/logging.js";
import type { Era, Revision } from "../revisions/revision.js";
import type { Answering } from "./answering.js";

/** What a client says of itself. */
export interface ClientIdentity {
  readonly info: Implementation;
  readonly answering: Answering;
}

/** What is known of the server. */
export interface ServerDescription {
  /** Undefined if the server does not say. For display only: it is not proven. */
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/**
 * What was found out about a server, for the next time: JSON, so it can be kept. One of the handshake era should be
 * forgotten after a while, because a server that learns the other era still answers in the old one.
 */
export interface Prior {
  readonly era: Era;
  /** What a server of the stateless era answered to `server/discover`. With it nothing is asked at all. */
  readonly discovered?: JsonObject;
}

/** What a caller can set for one call of a server. */
export interface OpenedCallOptions extends CallOptions {
  /** Sends what the server has not advertised, too: it may be there all the same. Default: false, it is refused on this side. */
  readonly unadvertised?: boolean;
}

/** Calls the server in the newest shape; the result is an object. */
export type OpenedCall = (method: string, params?: JsonObject, options?: OpenedCallOptions) => Promise<JsonObject>;

/** A conversation that a client has opened, whichever way its revision opens one. */
export interface Opened {
  readonly revision: Revision;
  readonly server: ServerDescription;
  readonly prior: Prior;
  /** One request and its result. In the stateless era that may be one that asks for input. */
  readonly call: OpenedCall;
  notify(method: string, params?: JsonObject): void;
  /** Says which log messages the server shall send, from now on. */
  setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void>;
}

/** An open conversation and what carries it. */
export interface CarriedConversation extends Opened {
  readonly connection: ConnectionState;
  /** Aborted when the conversation is over. */
  readonly over: AbortSignal;
  /** Ends the conversation; resolves when its carrier is gone. */
  close(): Promise<void>;
}

/** What a server says of itself, with what is not as it should be left out: nothing hangs on it. */
export function describeServer(info: unknown, { capabilities, instructions }: JsonObject): ServerDescription {
  return {
    info: isObject(info) ? (info as unknown as Implementation) : undefined, // For display: nobody relies on its members.
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}
