import { weightOfText } from "../base/byte-budget.js";
import { checkMembers } from "../base/check-members.js";
import { deferred } from "../base/deferred.js";
import { foreignMembers } from "../base/foreign-members.js";
import type { CallOptions } from "./call.js";
import { callMembers } from "./calls/caller.js";
import type { Outcome } from "./calls/outgoing-call.js";
import { type ConnectionParts, inFlightProblem, type Responder } from "./calls/responder.js";
import { Problem } from "./codec/decode.js";
import { encodeNotification } from "./codec/encode.js";
import { LocalError } from "./errors.js";
import { type Id, idKey, type Message, type Params, type RpcRequest } from "./message.js";
import { responseToProblem } from "./peer-settings.js";

interface Entry {
  /** Undefined for a notification. */
  readonly id: number | undefined;
  readonly method: string;
  readonly params: Params | undefined;
  readonly options: CallOptions;
}

/**
 * Several calls and notifications of this side in one frame. Made by `Connection.batch`.
 *
 * @example
 * const batch = connection.batch();
 * const sum = batch.request("sum", [1, 2]);
 * batch.notify("log", { level: "info" });
 * const outcomes = await batch.send();
 * outcomes.get(sum); // { ok: true, result: 3 }
 */
export class RequestBatch {
  readonly #parts: ConnectionParts;
  readonly #entries: Entry[] = [];
  #sent = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** Adds a call and gives the id under which `send` returns its outcome. */
  request(method: string, params?: Params, options: CallOptions = {}): number {
    checkMembers(method, options, callMembers);
    const id = this.#parts.inFlight.nextId();
    this.#add({ id, method, params, options });
    return id;
  }

  /** Adds a notification. */
  notify(method: string, params?: Params): void {
    this.#add({ id: undefined, method, params, options: {} });
  }

  /**
   * Writes the batch and waits until every call in it has its outcome. An empty batch writes nothing.
   * @throws LocalError `refused` when it was sent before, or holds a notification that is not JSON
   */
  async send(): Promise<ReadonlyMap<number, Outcome>> {
    this.#mustBeUnsent();
    this.#sent = true;
    const { caller, out } = this.#parts;
    // First of all, because it may throw: no call is registered yet.
    const notifications = this.#entries.map(({ id, method, params }) =>
      id === undefined ? encodeNotification(method, params) : undefined,
    );
    const outcomes = new Map<number, Outcome>();
    const settled: Promise<void>[] = [];
    const calls = this.#entries.map(({ id, method, options }) => {
      if (id === undefined) return undefined;
      const { promise, resolve } = deferred<Outcome>();
      settled.push(promise.then((outcome) => void outcomes.set(id, outcome)));
      return caller.begin(id, method, options, resolve);
    });
    caller.whenWritable(() => {
      const frames = this.#entries.flatMap(({ params }, index) => {
        const call = calls[index];
        return notifications[index] ?? (call && caller.encode(call, params)) ?? [];
      });
      if (frames.length > 0) out.write(`[${frames.join(",")}]`);
    });
    await Promise.all(settled);
    return outcomes;
  }

  #add(entry: Entry): void {
    this.#mustBeUnsent();
    this.#entries.push(entry);
  }

  #mustBeUnsent(): void {
    if (this.#sent)
      throw new LocalError("refused", "this batch was sent already: make another with connection.batch()");
  }
}

/**
 * The response to a batch of the peer, while the batch is read. Its requests run concurrently; their responses are sent in one array,
 * or nothing if there are none.
 */
export class BatchResponse {
  readonly #responder: Responder;
  readonly #parts: ConnectionParts;
  readonly #answers: (string | undefined)[] = [];
  readonly #ids = new Set<unknown>();
  /** The batch itself, until its end has been read, and its requests without a response. */
  #pending = 1;
  /** Bytes of the responses that wait for the last one. */
  #held = 0;
  #first: Id | undefined;

  constructor(responder: Responder, parts: ConnectionParts) {
    this.#responder = responder;
    this.#parts = parts;
  }

  /** Handles the next request, or the next element that is not a message. */
  take(element: RpcRequest | Problem): void {
    this.#pending += 1;
    const problem = element instanceof Problem ? element : repeatedId(element, this.#ids);
    if (problem !== undefined) {
      this.#reply(responseToProblem(problem, this.#parts.settings.profile));
      return;
    }
    const request = element as RpcRequest; // A problem was answered above.
    this.#first ??= request.id;
    this.#responder.request(request, Number.POSITIVE_INFINITY, this.#reply); // The length of the whole frame says nothing of its part.
  }

  /** Called after the last element. */
  end(): void {
    this.#reply(undefined);
  }

  readonly #reply = (answer: string | undefined): void => {
    const { settings, out } = this.#parts;
    this.#answers.push(answer);
    this.#pending -= 1;
    if (this.#pending > 0) {
      const bytes = answer === undefined ? 0 : weightOfText(answer);
      if (settings.budget.take(bytes)) this.#held += bytes;
      return;
    }
    settings.budget.give(this.#held);
    const joined = joinResponses(this.#answers);
    if (joined !== undefined) out.write(joined, this.#first, true);
    else if (this.#first !== undefined) out.unanswered(this.#first);
  };
}

/** The problem of a request whose id is that of an earlier request of the batch; otherwise adds its id to `ids`. */
export function repeatedId(message: Message, ids: Set<unknown>): Problem | undefined {
  if (!("method" in message && "id" in message)) return undefined;
  const key = idKey(message.id);
  if (ids.has(key)) return inFlightProblem(message.id);
  ids.add(key);
  return undefined;
}

/** The response to a batch; undefined if it has only notifications. */
export function joinResponses(answers: readonly (string | undefined)[]): string | undefined {
  const given = answers.filter((answer) => answer !== undefined);
  return given.length === 0 ? undefined : `[${given.join(",")}]`;
}

const addsCall = "batch.request(method, params) adds a call, whose outcome batch.send() returns";
Object.setPrototypeOf(
  RequestBatch.prototype,
  foreignMembers("batch", { call: addsCall, add: addsCall, push: addsCall }),
);
