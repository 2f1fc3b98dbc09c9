import { setTimeout } from "node:timers/promises";
import { isObject, type JsonObject, methods, notifications } from "@parlance/mcp/protocol";
import {
  type Conversation,
  canonicalJson,
  ignoring,
  literalOf,
  nodeAt,
  type RawClient,
  type RawReply,
  type RecordedOperation,
  type Row,
  significant,
  type WireMessage,
} from "@parlance/wire";
import { type Replacement, replaced } from "../../shared/faults/faulty-stream.js";
import type { ReplayClock } from "./replay-clock.js";

type WireSession = Conversation["sessions"][number];

/** Milliseconds after the last response in which further messages of the server arrive. */
const aftermath = 100;

/** Milliseconds to wait for responses that no request is paired with. */
const patience = 1_000;

/** Values that a client must send back: their members in results, and in the params of the next request. */
export const carried = [
  { result: "requestState", param: "requestState" },
  { result: "nextCursor", param: "cursor" },
] as const;

const ignores = ignoring(["/id", "/params/_meta/progressToken"]);

/**
 * Plays the client of one session of a recording: sends each message when the responses that came before it have arrived,
 * and its time has come.
 */
export class ClientPlayer {
  readonly #session: WireSession;
  readonly #rows: readonly Row[];
  readonly #client: RawClient;
  readonly #clock: ReplayClock;
  /** The replies to the requests that were sent again. */
  readonly #asked = new Map<RecordedOperation, Promise<RawReply>>();
  /** The live values that replace recorded ones in messages to the server. */
  readonly #states = new Map<string, string>();
  readonly #questions: RecordedOperation[];
  /** The responses of the recording that no request is paired with. */
  readonly #unpaired: readonly WireMessage[];
  /** How many of them have not come. */
  #missing = 0;
  #isReached = false;
  #unreached: RawReply | undefined;

  constructor(recording: Conversation, session: WireSession, client: RawClient, clock: ReplayClock) {
    this.#session = session;
    this.#rows = recording.rows.filter((row) => row.session === session);
    this.#client = client;
    this.#clock = clock;
    this.#questions = session.operations.filter(({ request }) => request.from === "server");
    this.#unpaired = this.#rows
      .filter(({ from }) => from === "server")
      .flatMap(({ messages }) => messages.filter((each) => isResponse(each) && each.context.pairing?.is !== "answer"));
    client.onRequest = (request) => this.#answer(request);
  }

  /**
   * Sends everything, and resolves when every request that was answered in the recording is answered. If the server answers none,
   * because it ended, cannot be reached, or responds with an HTTP error, it stops, and resolves to the first reply.
   */
  async play(): Promise<RawReply | undefined> {
    for (const row of this.#rows) {
      if (row.from === "client" && row.frame !== undefined && !isAnswer(row)) await this.#say(row);
      if (this.#unreached !== undefined) return this.#unreached;
    }
    await this.#answeredBefore(Number.POSITIVE_INFINITY);
    if (this.#unreached !== undefined) return this.#unreached;
    const end = this.#rows.at(-1)?.at ?? 0;
    await Promise.all([...this.#asked.keys()].filter(isLeftOpen).map((each) => this.#isAnsweredBy(end, each)));
    await setTimeout(aftermath);
    return undefined;
  }

  async #say({ frame, messages, at, n = 0 }: Row): Promise<void> {
    if (frame === undefined) return;
    await this.#answeredBefore(n);
    const givenUp = this.#givenUpBy(messages);
    if (givenUp !== undefined && (await this.#isAnsweredBy(at, givenUp))) return;
    await this.#clock.reach(at);
    const bytes = replaced(
      frame.bytes,
      messages.flatMap((message) => this.#brought(message)),
    );
    const text = literalOf({ start: 0, end: bytes.length }, bytes);
    const operations = this.#session.operations.filter(({ request }) => messages.includes(request));
    const [first] = operations;
    const id = first?.request.member("id");
    const reply = this.#client.send(text, typeof id === "string" || typeof id === "number" ? id : undefined);
    for (const operation of operations)
      this.#asked.set(
        operation,
        reply.then((each) => this.#receive(operation, each)),
      );
    // Over HTTP, a notification has arrived when its HTTP response has.
    if (first === undefined) await reply;
  }

  /** The call that a frame of the recording cancels before its answer, if one came at all. */
  #givenUpBy(messages: readonly WireMessage[]): RecordedOperation | undefined {
    const [message] = messages;
    if (messages.length !== 1 || message?.method !== notifications.cancelled) return undefined;
    const { operation } = message;
    if (operation?.request.from !== "client") return undefined;
    const { answer } = operation;
    return answer === undefined || answer.frame.n > message.frame.n ? operation : undefined;
  }

  /**
   * Whether this server answers a call in the time that the recorded client waited for it, up to a time of the recording and at any
   * speed of the replay. A client that has its answer cancels nothing.
   */
  async #isAnsweredBy(at: number, operation: RecordedOperation): Promise<boolean> {
    const milliseconds = at - operation.request.frame.entry.t;
    const waited = new AbortController();
    const { signal } = waited;
    const reply = await Promise.race([
      this.#asked.get(operation),
      setTimeout(milliseconds, undefined, { signal, ref: false }).catch(() => undefined),
    ]);
    waited.abort();
    return reply?.answer !== undefined;
  }

  /** Waits for every response that the recorded client had received before it sent a frame. */
  async #answeredBefore(n: number): Promise<void> {
    const due = [...this.#asked].filter(([{ answer }]) => answer !== undefined && answer.frame.n < n);
    await Promise.all(
      due.map(([operation, reply]) => {
        const { answer, cancel } = operation;
        if (answer === undefined || cancel === undefined || cancel.frame.n > answer.frame.n) return reply;
        // A server that obeys the cancellation sends no response.
        return this.#isAnsweredBy(answer.frame.entry.t + patience, operation);
      }),
    );
    await this.#unpairedBefore(n);
  }

  /**
   * Waits for as many unpaired responses as the recorded client had received before it sent a frame: what they respond to shows only
   * in their order. Those that do not come are waited for once.
   */
  async #unpairedBefore(n: number): Promise<void> {
    const due = this.#unpaired.filter(({ frame }) => frame.n < n).length;
    const until = performance.now() + patience;
    const isMissing = (): boolean => this.#client.unpairedResponses + this.#missing < due;
    while (isMissing() && performance.now() < until) await setTimeout(1);
    this.#missing = Math.max(this.#missing, due - this.#client.unpairedResponses);
  }

  #receive({ answer }: RecordedOperation, reply: RawReply): RawReply {
    if (isAnswered(reply)) this.#isReached = true;
    else if (!this.#isReached && answer !== undefined) this.#unreached ??= reply;
    const live = reply.answer?.result;
    if (!isObject(live)) return reply;
    if (typeof live.protocolVersion === "string") this.#client.useVersion(live.protocolVersion);
    for (const { result } of carried) {
      const [before, after] = [answer?.result?.[result], live[result]];
      if (typeof before === "string" && typeof after === "string") this.#states.set(before, after);
    }
    return reply;
  }

  #brought({ node, params }: WireMessage): readonly Replacement[] {
    return carried.flatMap(({ param }) => {
      const at = nodeAt(node, `/params/${param}`);
      const recorded = params[param];
      const live = typeof recorded === "string" ? this.#states.get(recorded) : undefined;
      return at === undefined || live === undefined ? [] : [{ at, text: JSON.stringify(live) }];
    });
  }

  /** The recorded response to a request of the server: to the same request, or else to the next one of its method. */
  #answer(question: JsonObject): string | undefined {
    const wanted = canonicalJson(significant(question, ignores));
    const alike = this.#questions.filter(({ request }) => request.method === question.method);
    const found =
      alike.find(({ request }) => canonicalJson(significant(request.value, ignores)) === wanted) ?? alike[0];
    if (found === undefined)
      return JSON.stringify({
        jsonrpc: "2.0",
        id: question.id,
        error: { code: -32601, message: `the recorded client was never asked ${String(question.method)}` },
      });
    this.#questions.splice(this.#questions.indexOf(found), 1);
    const { answer } = found;
    const id = answer && nodeAt(answer.node, "/id");
    if (answer === undefined || id === undefined) return undefined;
    const { bytes } = answer.frame;
    const text = replaced(bytes, [{ at: id, text: JSON.stringify(question.id) }]);
    const moved = text.length - bytes.length;
    const { start, end } = answer.node;
    return literalOf({ start, end: end + moved }, text);
  }
}

/** Whether a call had no answer when the recording ended, and was not given up. A subscription is open until then. */
function isLeftOpen({ request, answer, cancel }: RecordedOperation): boolean {
  return answer === undefined && cancel === undefined && request.method !== methods.listen;
}

function isAnswer({ messages }: Row): boolean {
  return messages.length > 0 && messages.every(isResponse);
}

function isResponse({ kind }: WireMessage): boolean {
  return kind === "res" || kind === "err";
}

/** Whether the server is reached: it answered, accepted the request over HTTP, or is only slow. */
function isAnswered({ answer, silence, http }: RawReply): boolean {
  if (answer !== undefined && answer.id !== undefined && answer.id !== null) return true;
  if (http !== undefined) return http.status < 400;
  return silence === "no answer in time" || silence === "an answer without a line feed";
}
