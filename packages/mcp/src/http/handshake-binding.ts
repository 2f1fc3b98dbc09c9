import type { MaybePromise } from "../base/later.js";
import { Problem } from "../jsonrpc/check.js";
import type { Decoded } from "../jsonrpc/codec.js";
import { isRequest, type Message } from "../jsonrpc/message.js";
import type { Profile } from "../jsonrpc/profile.js";
import { mcpHeaders } from "../protocol/http-headers.js";
import { methods } from "../protocol/methods.js";
import { revisionOf, versions } from "../revisions/all.js";
import { refusal } from "./answers.js";
import type { HttpCaller } from "./peers.js";
import type { HttpAnswer, HttpRequest } from "./request.js";

/** A body that is a message, or a batch. */
export type Posted = Exclude<Decoded, Problem>;

/** What a body holds, one by one. */
export function elementsOf(posted: Posted): readonly (Message | Problem)[] {
  // `Array.isArray` does not narrow a readonly array out of a union.
  return Array.isArray(posted) ? (posted as readonly (Message | Problem)[]) : [posted as Message];
}

/** How the revisions with a handshake are answered. */
export interface HandshakeBinding {
  /** What may be done besides POST. */
  readonly methods: readonly string[];
  /** By what rules the body of a POST is read. */
  profileOf(request: HttpRequest, caller: HttpCaller): Profile;
  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpAnswer>;
  get(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpAnswer>;
  delete(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpAnswer>;
  /** Takes nothing new, and resolves when nothing runs, or after `grace` milliseconds. */
  drain(grace: number): Promise<void>;
  /** Ends what is still there. */
  close(): void;
}

/** Whether a body is the request that opens a conversation. One in a batch opens nothing. */
export function opens(posted: Posted): boolean {
  const [first] = elementsOf(posted);
  if (Array.isArray(posted) || first === undefined || first instanceof Problem) return false;
  return isRequest(first) && first.method === methods.initialize;
}

/**
 * Whether a request names a version that nobody here speaks. Another one than that of the session is no fault.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 */
export function isForeignVersion(request: HttpRequest): boolean {
  const version = request.header(mcpHeaders.protocolVersion);
  return version !== undefined && revisionOf(version) === undefined;
}

export function foreignVersion(): HttpAnswer {
  return refusal(400, `MCP-Protocol-Version is none of ${versions.join(", ")}`);
}
