import type { Exchange } from "../jsonrpc/call.js";
import { encodeRequest } from "../jsonrpc/codec.js";
import { LocalError } from "../jsonrpc/errors.js";
import type { ErrorObject, Id, Params } from "../jsonrpc/message.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { Terms } from "../jsonrpc/terms.js";
import { lossyNotification } from "../lifecycle/mcp-connection.js";
import { specCodes } from "../protocol/errors.js";
import type { Reply } from "./reply.js";

/** The parts of a POST that its exchange needs. */
export interface PostedRequest {
  readonly id: Id;
  readonly principal: string | undefined;
  readonly peer: string | undefined;
  /** Aborts when the server shuts down. */
  readonly closing: AbortSignal;
}

/**
 * The exchange of a call that is one POST: notifications go into its response, and closing the connection cancels it.
 */
export class PostExchange implements Exchange {
  readonly id: Id;
  readonly principal: string | undefined;
  readonly peer: string | undefined;
  readonly closing: AbortSignal;
  /** The HTTP status of the response. */
  status = 200;
  readonly #reply: Reply;
  readonly #terms: Terms;
  #controller: AbortController | undefined;
  #cancelled: LocalError | undefined;

  constructor(reply: Reply, terms: Terms, { id, principal, peer, closing }: PostedRequest) {
    this.#reply = reply;
    this.#terms = terms;
    this.id = id;
    this.principal = principal;
    this.peer = peer;
    this.closing = closing;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled);
    }
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  get over(): boolean {
    return this.isCancelled || this.#reply.isOver;
  }

  notify(method: string, params?: Params): void {
    if (this.over) return;
    try {
      const lossy = lossyNotification(method, params);
      this.#reply.tell(encodeRequest(undefined, method, params), lossy && { method, ...lossy });
    } catch (error) {
      this.#terms.report({ kind: "fault", method, error });
    }
  }

  get report(): Reporter {
    return this.#terms.report;
  }

  drained(): Promise<void> {
    return this.#reply.drained();
  }

  /** A missing client capability is the only handler error with its own HTTP status. */
  failed({ code }: ErrorObject): void {
    if (code === specCodes.missingRequiredClientCapability) this.status = 400;
  }

  /** Cancels the call. */
  cancel(why: string): void {
    if (this.over) return;
    this.#cancelled = new LocalError("cancelled", why);
    this.#controller?.abort(this.#cancelled);
  }
}
