import type { ByteBudget } from "../../base/byte-budget.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import type { ConnectionEnds } from "./origin-check.js";
import type { EventStream } from "./streams/event-stream.js";

/** A platform-neutral HTTP request. */
export interface HttpRequest {
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** Path and query, or a full URL. */
  readonly url: string;
  /** The addresses of the connection; undefined if the platform does not provide them. */
  readonly ends?: ConnectionEnds;
  /** The value of a header by its lower-case name, trimmed; multiple values are joined with commas. */
  header(name: string): string | undefined;
  /** The network address of the client; undefined if the platform does not provide it. */
  readonly address: string | undefined;
  /**
   * Reads the whole body. Long bodies are charged to the budget while they arrive.
   * @throws BodyFault, also as a rejection
   */
  text(maxBytes: number, budget: ByteBudget): MaybePromise<string>;
  /** Sets the listener for a client that disconnects before the end of the response. At most one. */
  onGone(listener: () => void): void;
}

export type HttpHeaders = Readonly<Record<string, string>>;

/** A platform-neutral HTTP response. */
export interface HttpResponse {
  readonly status: number;
  /** Header names are lower-case. */
  readonly headers: HttpHeaders;
  /** The whole body, or a stream; undefined for no body. */
  readonly body: string | EventStream | undefined;
}

/** Thrown if a body cannot be read. */
export class BodyFault extends Error {
  override readonly name = "BodyFault";
  readonly status: 400 | 413 | 429 | 503;

  constructor(status: BodyFault["status"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** @throws BodyFault 413 */
export function requireBodyBytes(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new BodyFault(413, `the body has more than ${maxBytes} bytes`);
}

/** Bytes of a body that are not charged, so that short messages still work when a peer has used up its budget. */
export const freeBodyBytes: number = 64 * 1024;

/**
 * Charges the received part of a body to the peer's budget.
 * @throws BodyFault 429 if the peer's budget is exhausted, 503 if the global one is
 */
export function requireRoom(part: ByteBudget, bytes: number, peer: ByteBudget): void {
  if (bytes <= freeBodyBytes || part.hold(bytes)) return;
  if (!peer.parentFits(bytes)) throw new BodyFault(503, "the memory budget of this server is used up: retry later");
  throw new BodyFault(429, "the memory budget of this caller is used up: wait for responses, then retry");
}

/** @throws BodyFault 400 */
export function notUtf8(cause?: unknown): BodyFault {
  return new BodyFault(400, "the body is not UTF-8", { cause });
}
