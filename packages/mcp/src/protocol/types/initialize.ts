import type { ClientCapabilities, ServerCapabilities } from "../capabilities.js";
import type { Implementation } from "./implementation.js";
import type { RequestParams } from "./params.js";
import type { Result } from "./result.js";

/** Params of `initialize`, which starts a session in handshake revisions. */
export interface InitializeParams extends RequestParams {
  /** The newest handshake revision that the client supports. */
  readonly protocolVersion: string;
  /** The capabilities of the client. */
  readonly capabilities: ClientCapabilities;
  /** The name and version of the client. */
  readonly clientInfo: Implementation;
}

/** Result of `initialize`. */
export interface InitializeResult extends Result {
  /** The revision of the session. A client that does not support it closes the connection. */
  readonly protocolVersion: string;
  /** The capabilities of the server. */
  readonly capabilities: ServerCapabilities;
  /** The name and version of the server. */
  readonly serverInfo: Implementation;
  /** Instructions for the model. It comes from a peer, so treat it as untrusted text. */
  readonly instructions?: string;
}
