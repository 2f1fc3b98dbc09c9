import type { CallOptions } from "../../jsonrpc/calls/outgoing-call.js";
import type { ConnectionState } from "../../jsonrpc/connection.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import type { Era, Revision } from "../../protocol/revisions/revision.js";
import type { Implementation } from "../../protocol/types/implementation.js";
import type { LoggingLevel } from "../../protocol/types/logging.js";
import type { InputResponder } from "../input/input-responder.js";

/** Identity and input handlers of a client. */
export interface ClientIdentity {
  readonly info: Implementation;
  readonly responder: InputResponder;
}

/** Information about the server. */
export interface ServerDescription {
  /** Undefined if the server does not say. For display only: it is not proven. */
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/**
 * What a former connection learned about a server, as JSON. Let a hint of the handshake era expire: a server that adds the
 * stateless era still accepts the handshake.
 */
export interface ServerHint {
  readonly era: Era;
  /** The `server/discover` result of a stateless server. With it the client skips the probe. */
  readonly discovered?: JsonObject;
}

/** Options of one call of a server. */
export interface SessionCallOptions extends CallOptions {
  /** Sends what the server has not advertised, too: it may be there all the same. Default: false, it is refused on this side. */
  readonly unadvertised?: boolean;
}

/** Calls the server, in the newest shapes; the result is an object. */
export type SessionCall = (method: string, params?: JsonObject, options?: SessionCallOptions) => Promise<JsonObject>;

/** The calls of an open client session, of either era. */
export interface SessionCalls {
  readonly revision: Revision;
  readonly server: ServerDescription;
  readonly serverHint: ServerHint;
  /** Makes one request. In the stateless era the result may request input. */
  readonly call: SessionCall;
  notify(method: string, params?: JsonObject): void;
  /** Sets the level of the log messages that the server sends. */
  setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void>;
}

/** An open client session and its connection. */
export interface ClientSession extends SessionCalls {
  readonly connection: ConnectionState;
  /** Aborted when the session ends. */
  readonly ended: AbortSignal;
  /** Closes the session; resolves when its connection is closed. */
  close(): Promise<void>;
}

/** The server's description without its invalid members: it is for display only. */
export function describeServer(info: unknown, { capabilities, instructions }: JsonObject): ServerDescription {
  return {
    info: isObject(info) ? (info as unknown as Implementation) : undefined, // For display: nobody relies on its members.
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}
