import type { Timer } from "../../base/clock.js";
import type { Caller, OutgoingCall } from "../../jsonrpc/calls/caller.js";
import { decode, Problem } from "../../jsonrpc/codec/decode.js";
import { LocalError, RpcError, thrownText } from "../../jsonrpc/errors.js";
import { guarded } from "../../jsonrpc/hooks.js";
import type { Message, RpcNotification, RpcResponse } from "../../jsonrpc/message.js";
import type { PeerSettings } from "../../jsonrpc/peer-settings.js";
import { type NotificationListener, realNames } from "../../jsonrpc/routing.js";
import { methodAliases } from "../../protocol/revisions/aliases.js";
import { progressTag } from "../../session/mcp-connection.js";
import type { HttpTarget } from "./http-target.js";
import { type ResponseTerms, readRefusal, readResponse } from "./read-response.js";

/** The parts of the remote that a call needs. */
export interface PostHost {
  readonly target: HttpTarget;
  readonly caller: Caller;
  readonly terms: PeerSettings;
  readonly lenient: boolean;
  readonly onNotification: NotificationListener;
}

/** Milliseconds after the response until this side closes a stream that stays open. */
const linger = 1_000;

/**
 * A call that is one HTTP request. All messages in its response belong to the call, and aborting the request cancels
 * it.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
export class PostedCall {
  /** Resolves when the request is over. Never rejects. */
  readonly over: Promise<void>;
  readonly #host: PostHost;
  readonly #call: OutgoingCall;
  readonly #stop: AbortController;
  #lingering: Timer | undefined;

  constructor(
    host: PostHost,
    call: OutgoingCall,
    request: {
      readonly body: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly stop: AbortController;
    },
  ) {
    this.#host = host;
    this.#call = call;
    this.#stop = request.stop;
    this.over = this.#exchange(request).catch((error: unknown) => this.#fail(error));
  }

  async #exchange({ body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> }) {
    const { target, terms } = this.#host;
    const { signal } = this.#stop;
    const what = `${this.#call.method} (id ${this.#call.id})`;
    const { lenient } = this.#host;
    const reading: ResponseTerms = { what, maxBytes: terms.limits.frameBytes, signal, lenient, clock: terms.clock };
    try {
      const response = await target.send(what, { method: "POST", headers, body, signal });
      if (response.ok) await this.#read(response, reading);
      else await this.#refused(response, reading);
    } finally {
      if (this.#lingering !== undefined) terms.clock.clearTimer(this.#lingering);
    }
  }

  async #read(response: Response, reading: ResponseTerms): Promise<void> {
    await readResponse(response, reading, (text) => this.#take(text));
    const { caller } = this.#host;
    // The response is lost: stateless servers do not keep it for a retry.
    if (caller.isPending(this.#call))
      caller.fail(this.#call, "closed", "the HTTP response ended without a JSON-RPC response");
  }

  async #refused(response: Response, reading: ResponseTerms): Promise<void> {
    const { caller } = this.#host;
    const { error, said = error } = await readRefusal(response, reading, [String(this.#call.id)]);
    if (caller.isPending(this.#call)) caller.settle(this.#call, { ok: false, error: said });
  }

  #fail(error: unknown): void {
    const { caller } = this.#host;
    if (!caller.isPending(this.#call)) return; // The call has already ended.
    if (error instanceof LocalError) caller.settle(this.#call, { ok: false, error });
    else caller.fail(this.#call, "closed", `the HTTP response broke off: ${thrownText(error)}`, error);
  }

  #take(text: string): void {
    const { terms, caller, lenient } = this.#host;
    const { profile, limits, exactNumbers } = terms;
    const message = decode(text, profile, limits, exactNumbers) as Message | Problem; // The profile allows no batches.
    if (message instanceof Problem) {
      const isAnswer = (lenient && caller.receiveMeant(text)) || this.#fails(message) || caller.receiveMeant(text);
      if (!isAnswer) caller.complain({ kind: "invalid", problem: message, frame: text });
    } else if (!("method" in message)) {
      if (this.#isMine(message)) this.#receive(message);
      else if (typeof message.id === "string") caller.receive(message);
      else caller.complain({ kind: "unmatched", response: message });
    } else if ("id" in message) {
      terms.report({ kind: "unanswerable", method: message.method, id: message.id });
    } else {
      this.#hear(lenient ? realNames(message, methodAliases) : message);
    }
  }

  /** Fails the call with a malformed response, if it is one to this call. Returns whether it is. */
  #fails(problem: Problem): boolean {
    return problem.id === this.#call.id && this.#host.caller.receiveProblem(problem);
  }

  /** An error without an id reports an unreadable request, so it belongs to this call. */
  #isMine(response: RpcResponse): boolean {
    const { id } = response;
    const isUnread = "error" in response && (id === undefined || id === null);
    return this.#host.caller.isPending(this.#call) && (isUnread || id === this.#call.id);
  }

  #receive(response: RpcResponse): void {
    const { caller, terms } = this.#host;
    if ("error" in response) {
      const { code, message, data } = response.error;
      caller.settle(this.#call, { ok: false, error: new RpcError(code, message, data) });
    } else {
      caller.settle(this.#call, { ok: true, result: response.result });
    }
    this.#lingering = terms.clock.setTimer(() => this.#stop.abort(), linger);
    this.#lingering.unref?.();
  }

  #hear({ method, params }: RpcNotification): void {
    const { caller, terms, onNotification } = this.#host;
    if (!caller.isPending(this.#call)) return; // Notifications after the response are ignored.
    const tag = progressTag(method, params);
    if (tag !== undefined && tag === this.#call.options.tag && caller.receiveRelated(tag, method, params)) return;
    caller.touch(this.#call);
    guarded("onNotification", () => onNotification(method, params), terms.report);
  }
}
