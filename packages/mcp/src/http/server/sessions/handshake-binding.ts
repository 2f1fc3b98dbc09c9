import type { MaybePromise } from "../../../base/maybe-promise.js";
import { type Decoded, Problem } from "../../../jsonrpc/codec/decode.js";
import { isRequest, type Message, type RpcRequest } from "../../../jsonrpc/message.js";
import type { Profile } from "../../../jsonrpc/profile.js";
import { mcpHeaders } from "../../../protocol/http-headers.js";
import { methods } from "../../../protocol/methods.js";
import { defaultHttpRevision, revisionOf, versions } from "../../../protocol/revisions/all.js";
import type { Revision } from "../../../protocol/revisions/revision.js";
import type { HttpCaller } from "../peers.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { refusal } from "../responses.js";

/** A valid message or batch from a POST. */
export type Posted = Exclude<Decoded, Problem>;

/** The messages of a POST. */
export function elementsOf(posted: Posted): readonly (Message | Problem)[] {
  // `Array.isArray` does not narrow a readonly array in a union.
  return Array.isArray(posted) ? (posted as readonly (Message | Problem)[]) : [posted as Message];
}

/** The HTTP side of the handshake revisions. */
export interface HandshakeBinding {
  /** Supported HTTP methods besides POST. */
  readonly methods: readonly string[];
  /** The rules for reading the body of a POST. */
  profileOf(request: HttpRequest, caller: HttpCaller): Profile;
  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse>;
  get(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpResponse>;
  delete(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpResponse>;
  /** Stops accepting requests; resolves when nothing is running, or after `grace` milliseconds. */
  drain(grace: number): Promise<void>;
  /** Closes everything. */
  close(): void;
}

/** The `initialize` request of a body; undefined for any other body. In a batch it opens no session. */
export function initializeIn(posted: Posted): RpcRequest | undefined {
  const [first] = elementsOf(posted);
  if (Array.isArray(posted) || first === undefined || first instanceof Problem) return undefined;
  return isRequest(first) && first.method === methods.initialize ? first : undefined;
}

/**
 * The revision that a request declares, undefined for an unknown version. A version other than that of the session is accepted.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 */
export function revisionBy(request: HttpRequest): Revision | undefined {
  const version = request.header(mcpHeaders.protocolVersion);
  return version === undefined ? defaultHttpRevision : revisionOf(version);
}

export function foreignVersion(): HttpResponse {
  return refusal(400, `MCP-Protocol-Version is none of ${versions.join(", ")}`);
}
