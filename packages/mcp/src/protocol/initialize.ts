import type { ClientCapabilities, ServerCapabilities } from "./capabilities.js";
import type { Implementation } from "./implementation.js";
import type { RequestParams } from "./params.js";
import type { Result } from "./result.js";

/** Params of `initialize`, which opens a conversation of the handshake era. */
export interface InitializeParams extends RequestParams {
  /** The newest revision of the handshake era that the client speaks. */
  readonly protocolVersion: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}

/** Result of `initialize`. */
export interface InitializeResult extends Result {
  /** The revision of the conversation; a client that does not speak it closes. */
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  /** A hint for the model, from a peer that is not to be trusted with more. */
  readonly instructions?: string;
}
