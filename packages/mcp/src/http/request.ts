import type { ByteBudget } from "../base/byte-budget.js";
import type { MaybePromise } from "../base/later.js";
import type { EventStream } from "./event-stream.js";
import type { ConnectionEnds } from "./guard.js";

/** A request as the door sees it, whichever platform it came through. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, or a whole URL. */
  readonly url: string;
  /** Where the connection comes from and leads to; undefined where the platform does not say. */
  readonly ends?: ConnectionEnds;
  /** The value of a header by its name in lower case, without the spaces around it; several are joined with commas. */
  header(name: string): string | undefined;
  /** The network address of the other end of the connection; undefined where the platform does not tell. */
  readonly address: string | undefined;
  /** The whole body. What has come of a long one is charged to the budget. @throws BodyFault, as a rejection too */
  text(maxBytes: number, budget: ByteBudget): MaybePromise<string>;
  /** Calls `listener` when the client goes before it has all of the answer. At most one listens. */
  onGone(listener: () => void): void;
}

export type HttpHeaders = Readonly<Record<string, string>>;

/** What a request is answered with. */
export interface HttpAnswer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: HttpHeaders;
  /** The whole body, or one that is still being written; undefined for none. */
  readonly body: string | EventStream | undefined;
}

/** Why a body could not be read. */
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

/** Bytes of a body that no budget is charged for, so that short messages come through when a peer has used up its budget. */
const freeBytes = 64 * 1024;

/**
 * Charges what has come of a body to its own part of the peer's budget.
 * @throws BodyFault 429 where the peer has no room for it, 503 where all of them together have none
 */
export function requireRoom(part: ByteBudget, bytes: number, peer: ByteBudget): void {
  if (bytes <= freeBytes || part.hold(bytes)) return;
  if (!peer.parentFits(bytes)) throw new BodyFault(503, "there is no room for the body: send it again later");
  throw new BodyFault(429, "there is no room for the body next to your others: wait for answers, then retry");
}

/** @throws BodyFault 400 */
export function notUtf8(cause?: unknown): BodyFault {
  return new BodyFault(400, "the body is not UTF-8", { cause });
}
