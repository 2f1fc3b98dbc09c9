import type { MaybePromise } from "../base/later.js";
import type { EventStream } from "./event-stream.js";

/** A request as the door sees it, whichever platform it came through. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, or a whole URL. */
  readonly url: string;
  /** The value of a header by its name in lower case, without the spaces around it; several are joined with commas. */
  header(name: string): string | undefined;
  /** The whole body. @throws BodyFault, as a rejection too */
  text(maxBytes: number): MaybePromise<string>;
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
  readonly status: 400 | 413;

  constructor(status: 400 | 413, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** @throws BodyFault 413 */
export function requireBodyBytes(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw tooLong(maxBytes);
}

export function tooLong(maxBytes: number): BodyFault {
  return new BodyFault(413, `the body has more than ${maxBytes} bytes`);
}

/** @throws BodyFault 400 */
export function notUtf8(cause?: unknown): BodyFault {
  return new BodyFault(400, "the body is not UTF-8", { cause });
}
