import { isObject, methods, type Revision } from "@parlance/mcp/protocol";
import type { FrameEntry } from "../recording/entry.js";
import { directionOf, Frame, otherSide, type Sender } from "../recording/frame.js";
import { type MessageContext, type RecordedOperation, WireMessage } from "./message.js";

/** Requests that are kept complete: their results change the session, or they start a subscription. There are few of them. */
const keptMethods: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover, methods.listen]);

/**
 * An answered operation in a fraction of the memory. It keeps only the members that rules compare with a later message with the
 * same id or token, and that rows show beside such a message. Its messages are made on access.
 */
export class SettledOperation implements RecordedOperation {
  readonly number: number;
  /** A cancellation that came after the answer. */
  cancel: WireMessage | undefined = undefined;
  #notices: WireMessage[] | undefined;
  readonly #from: Sender;
  readonly #session: string;
  readonly #channel: FrameEntry["ch"];
  readonly #id: string;
  readonly #method: string | undefined;
  readonly #names: string | undefined;
  readonly #revision: Revision | undefined;
  /** The number of the request, and when its last byte arrived. */
  readonly #asked: number;
  readonly #askedAt: number;
  readonly #answered: number;
  readonly #answeredAt: number;
  /** The HTTP exchanges of both. */
  readonly #askedOn: number | undefined;
  readonly #answeredOn: number | undefined;
  readonly #member: "result" | "error";
  readonly #isFaulty: boolean;

  /**
   * Undefined for an operation that a later message can continue or that holds more than this keeps: in a batch, a task, a round of
   * several, the handshake.
   */
  static of({ number, request, previous }: RecordedOperation, answer: WireMessage): SettledOperation | undefined {
    const { method, id, params, context, revision, pointer } = request;
    const { result = {} } = answer;
    const isOpened = context.phase === "ready" || revision?.era === "stateless";
    const isAlone = pointer === "" && answer.pointer === "";
    const { resultType = "complete", task } = result;
    const isOver = previous === undefined && !isObject(task) && resultType === "complete";
    const isPlain = !keptMethods.has(method) && !("ref" in params);
    if (id === undefined || !isOpened || !isAlone || !isOver || !isPlain) return undefined;
    return new SettledOperation(number, request, answer, id);
  }

  private constructor(number: number, request: WireMessage, answer: WireMessage, id: string) {
    const [asked, answered] = [request.frame.entry, answer.frame.entry];
    this.number = number;
    this.#from = request.from;
    this.#session = asked.s;
    this.#channel = asked.ch;
    this.#id = id;
    this.#method = request.method;
    this.#names = request.names;
    this.#revision = request.revision;
    this.#asked = asked.n;
    this.#askedAt = asked.t1 ?? asked.t;
    this.#askedOn = asked.req;
    this.#answeredOn = answered.req;
    this.#answered = answered.n;
    this.#answeredAt = answered.t1 ?? answered.t;
    this.#member = answer.kind === "err" ? "error" : "result";
    this.#isFaulty = answer.isFaulty;
  }

  get notices(): WireMessage[] {
    this.#notices ??= [];
    return this.#notices;
  }

  get previous(): undefined {
    return undefined;
  }

  get next(): undefined {
    return undefined;
  }

  get request(): WireMessage {
    const [method, names] = [this.#method, this.#names];
    const params = method?.includes("resources/") === true ? { uri: names } : { name: names };
    const members = JSON.stringify({ method, params }).slice(1, -1);
    return this.#message(this.#from, { n: this.#asked, t: this.#askedAt, req: this.#askedOn }, members);
  }

  get answer(): WireMessage {
    const answer = this.#message(
      otherSide(this.#from),
      { n: this.#answered, t: this.#answeredAt, req: this.#answeredOn },
      `"${this.#member}":{}`,
    );
    if (this.#isFaulty) answer.blame();
    return answer;
  }

  #message(
    from: Sender,
    { n, t, req }: { readonly n: number; readonly t: number; readonly req: number | undefined },
    members: string,
  ): WireMessage {
    const raw = `{"jsonrpc":"2.0","id":${this.#id},${members}}`;
    const place = { s: this.#session, ch: this.#channel, len: raw.length, nl: "" } as const;
    const on = req === undefined ? {} : { req };
    const frame = new Frame({ k: "f", n, t, d: directionOf(from), ...place, ...on, raw });
    const context: MessageContext = {
      revision: this.#revision,
      phase: "ready",
      exchange: undefined,
      operation: this,
      pairing: undefined,
      reuses: undefined,
      previous: undefined,
    };
    return new WireMessage(frame, undefined, () => context);
  }
}
