import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import type { JsonObject } from "../protocol/json.js";
import type { Revision } from "../revisions/revision.js";

/** What a client says of itself. */
export interface ClientIdentity {
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
}

/** What is known of the server. */
export interface ServerDescription {
  /** Undefined if the server does not say. For display only: it is not proven. */
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** Calls the server in the newest shape; the result is an object. */
export type OpenedCall = (method: string, params?: JsonObject, options?: CallOptions) => Promise<JsonObject>;

/** A conversation that a client has opened, whichever way its revision opens one. */
export interface Opened {
  readonly revision: Revision;
  readonly server: ServerDescription;
  readonly call: OpenedCall;
  notify(method: string, params?: JsonObject): void;
}
