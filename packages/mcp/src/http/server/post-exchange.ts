import type { Exchange } from "../../jsonrpc/call.js";
import { encodeRequest } from "../../jsonrpc/codec/encode.js";
import { LocalError } from "../../jsonrpc/errors.js";
import type { ErrorObject, Id, Params } from "../../jsonrpc/message.js";
import type { PeerSettings } from "../../jsonrpc/peer-settings.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { specCodes } from "../../protocol/errors.js";
import { lossyNotification } from "../../session/mcp-connection.js";
import type { PostResponse } from "./post-response.js";

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
  readonly #reply: PostResponse;
  readonly #terms: PeerSettings;
  #controller: AbortController | undefined;
  #cancelled: LocalError | undefined;

  constructor(reply: PostResponse, terms: PeerSettings, { id, principal, peer, closing }: PostedRequest) {
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
      this.#reply.send(encodeRequest(undefined, method, params), lossy && { method, ...lossy });
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
