import type { ByteBudget } from "../../base/byte-budget.js";
import { PartialFrame } from "../../transport/framing/partial-frame.js";
import { decodeUtf8 } from "../../transport/framing/utf8.js";
import type { ConnectionEnds } from "./origin-check.js";
import type { EventStream } from "./streams/event-stream.js";

/** A platform-neutral HTTP request. */
export interface HttpRequest {
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** Path and query, or a full URL. */
  readonly url: string;
  /**
   * The request that the handler was given: an `IncomingMessage` of Node, which in Express is its `Request` with what middleware has added,
   * or a `Request`. Do not read its body, which the handler needs, and read its headers with `header`, which joins repeated ones.
   */
  readonly raw: object;
  /** The addresses of the connection; undefined if the platform does not provide them. */
  readonly ends?: ConnectionEnds;
  /** The value of a header by its lower-case name, trimmed; multiple values are joined with commas. */
  header(name: string): string | undefined;
  /** The network address of the client; undefined if the platform does not provide it. */
  readonly address: string | undefined;
  /**
   * Reads the whole body, and calls `done` once. Long bodies are charged to the budget while they arrive. It takes a callback
   * because a promise costs more than reading a short body.
   * @throws BodyFault for a declared length that is too long, and other errors that are known before reading; `done` is not called then
   */
  readBody(maxBytes: number, budget: ByteBudget, done: BodyListener): void;
  /** Sets the listener for a client that disconnects before the end of the response. At most one. */
  onGone(listener: () => void): void;
}

/** Gets the text of a body, or why it could not be read: a `BodyFault`, or what the platform throws. */
export type BodyListener = (body: string | Error) => void;

/** A platform-neutral HTTP request, and where its response goes. */
export interface HttpExchange extends HttpRequest {
  /** Sends the response. `cors`: headers that let a page of an allowed origin read it. */
  respond(response: HttpResponse, cors?: HttpHeaders): void;
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

  constructor(status: BodyFault["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** Bytes of a body that are not charged, so that short messages still work when a peer has used up its budget. */
const freeBodyBytes = 64 * 1024;

const noBytes = new Uint8Array(0);

/** Collects the body of one request, limits its length, and charges a long one to the budget of its peer while it arrives. */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #peer: ByteBudget;
  readonly #stop: () => void;
  readonly #done: BodyListener;
  /** Fewer bytes need no check. */
  readonly #free: number;
  #charged: ByteBudget | undefined;
  #isOver = false;
  #bytes = 0;
  #earlier: PartialFrame | undefined;
  /** Most bodies are one chunk, which need not be copied. */
  #last: Uint8Array | undefined;

  /**
   * A body whose declared length is too long, or does not fit into the budget, is rejected before it is read: bodies read in
   * vain would take time from all other peers.
   * @param stop called when the rest of the body is not wanted, before `done`
   * @param done called once, with the text of the whole body or a `BodyFault`: 400, or one of `append`
   * @throws BodyFault 413 if the body is too long, 429 if the budget of the peer is exhausted, 503 if the global one is
   */
  constructor(
    contentLength: string | null | undefined,
    maxBytes: number,
    peer: ByteBudget,
    { stop, done }: { readonly stop: () => void; readonly done: BodyListener },
  ) {
    this.#maxBytes = maxBytes;
    this.#peer = peer;
    this.#stop = stop;
    this.#done = done;
    this.#free = Math.min(freeBodyBytes, maxBytes);
    const declared = Number(contentLength ?? 0);
    const fault = declared > this.#free ? this.#faultOf(declared, peer.fits(declared)) : undefined;
    if (fault !== undefined) throw fault;
  }

  /**
   * Adds bytes that have arrived. They are kept by reference, so the caller must not change them later. It fails with 413 if the
   * body is too long, 429 if the budget of the peer is exhausted, 503 if the global one is.
   */
  readonly append = (chunk: Uint8Array): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#free) {
      this.#charged ??= this.#peer.child();
      const fault = this.#faultOf(this.#bytes, this.#charged.hold(this.#bytes));
      if (fault !== undefined) {
        this.fail(fault);
        return;
      }
    }
    if (this.#last !== undefined) {
      this.#earlier ??= new PartialFrame(this.#maxBytes);
      this.#earlier.append(this.#last);
    }
    this.#last = chunk;
  };

  /** The body is complete. Does nothing after a fault. */
  readonly end = (): void => {
    if (this.#isOver) return;
    const last = this.#last ?? noBytes;
    const text = decodeUtf8(this.#earlier === undefined ? last : this.#earlier.finish(last).head);
    this.#close();
    this.#done(text ?? notUtf8());
  };

  /** Only the first fault counts, and none after the end. */
  fail(fault: Error): void {
    if (this.#isOver) return;
    this.#close();
    this.#stop();
    this.#done(fault);
  }

  /** Gives the charge back, and forgets the bytes. */
  #close(): void {
    this.#isOver = true;
    this.#charged?.close();
    this.#earlier = undefined;
    this.#last = undefined;
  }

  #faultOf(bytes: number, fits: boolean): BodyFault | undefined {
    if (bytes > this.#maxBytes) return tooLong(this.#maxBytes);
    if (fits) return undefined;
    if (!this.#peer.parentFits(bytes))
      return new BodyFault(503, "the memory budget of this server is used up: retry later");
    return new BodyFault(429, "the memory budget of this caller is used up: wait for responses, then retry");
  }
}

/** The fault of a body that exceeds the limit on its length. */
export function tooLong(maxBytes: number): BodyFault {
  return new BodyFault(413, `the body has more than ${maxBytes} bytes`);
}

/** The fault of a body in another encoding. */
export function notUtf8(): BodyFault {
  return new BodyFault(400, "the body is not UTF-8");
}
