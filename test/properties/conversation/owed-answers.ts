/** A request of the peer. It is told from another one with the same id by its nonce. */
interface Asked {
  readonly nonce: number;
  /** Its answer waits for those of a whole batch, so it may be ready, and on its way, when a cancel arrives. */
  readonly isInBatch: boolean;
  /** It was cancelled while the channel had no room: its answer may have been ready, and waits. */
  mayWait: boolean;
  phase: "open" | "answered" | "cancelled";
  /** Answers owed for requests that came with its id while it was open. */
  refusals: number;
}

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly data?: unknown } | undefined;
}

const invalidRequest = -32_600;
/** The code with which a handler of the test fails; its data is the nonce. */
export const handlerFailed = 1;

/** The open requests of the peer. A response without a request throws. */
export class OwedAnswers {
  readonly #asked = new Map<string, Asked>();
  readonly #byNonce = new Map<number, Asked>();
  #withoutId = 0;

  /** Everything that has been asked was answered, refused or cancelled. */
  get isSettled(): boolean {
    return (
      this.#withoutId === 0 && [...this.#asked.values()].every((one) => one.phase !== "open" && one.refusals === 0)
    );
  }

  get ids(): readonly string[] {
    return [...this.#asked.keys()];
  }

  /** Ids that a peer may use again, or try to. */
  get idsOutsideBatches(): readonly string[] {
    return [...this.#asked].flatMap(([id, { isInBatch }]) => (isInBatch ? [] : [id]));
  }

  /** `id` as it stands on the wire. */
  ask(id: string, nonce: number, isInBatch: boolean): void {
    const earlier = this.#asked.get(id);
    if (earlier?.phase === "open") {
      earlier.refusals += 1;
      return;
    }
    // A refusal of an earlier request with this id may still wait for room.
    const asked: Asked = { nonce, isInBatch, mayWait: false, phase: "open", refusals: earlier?.refusals ?? 0 };
    this.#asked.set(id, asked);
    this.#byNonce.set(nonce, asked);
  }

  /** The peer sent a request that is none: it is refused, whatever else has its id. */
  askWrongly(id: string): void {
    const asked = this.#asked.get(id) ?? {
      nonce: Number.NaN,
      isInBatch: false,
      mayWait: false,
      phase: "answered",
      refusals: 0,
    };
    asked.refusals += 1;
    this.#asked.set(id, asked);
  }

  /** The peer sent something that is no message and has no id. */
  askNonsense(): void {
    this.#withoutId += 1;
  }

  /** Gives the nonce of the request that this stops. `holds`: the channel has no room, so that its answer may wait already. */
  cancel(id: string, holds: boolean): number | undefined {
    const asked = this.#asked.get(id);
    if (asked?.phase !== "open") return undefined;
    asked.phase = "cancelled";
    asked.mayWait = holds;
    return asked.nonce;
  }

  /** The nonce of the request that has this id. */
  nonceOf(id: string): number | undefined {
    return this.#asked.get(id)?.nonce;
  }

  isOpen(nonce: number): boolean {
    return this.#byNonce.get(nonce)?.phase === "open";
  }

  /** Whether an answer with this id may come. */
  mayAnswer(id: string): boolean {
    const asked = this.#asked.get(id);
    return asked !== undefined && (asked.phase === "open" || asked.mayWait);
  }

  /** Whether what was sent for the request before it was cancelled may still wait. */
  mayWait(nonce: number): boolean {
    return this.#byNonce.get(nonce)?.mayWait === true;
  }

  answer(id: string, { result, error }: Answer): void {
    if (id === "null") {
      this.#withoutId -= 1;
      if (this.#withoutId < 0) throw new Error("an answer without an id that nobody is owed");
      return;
    }
    const asked = this.#asked.get(id);
    if (asked === undefined) throw new Error(`an answer to ${id}, which was not asked`);
    if (error?.code === invalidRequest && asked.refusals > 0) {
      asked.refusals -= 1;
      return;
    }
    if (asked.phase === "cancelled" && (asked.isInBatch || asked.mayWait)) {
      asked.mayWait = false;
      return;
    }
    if (asked.phase !== "open") throw new Error(`an answer to ${id}, which is ${asked.phase}`);
    const nonce = error === undefined ? result : error.code === handlerFailed ? error.data : asked.nonce;
    if (nonce !== asked.nonce) throw new Error(`${id} was answered with what belongs to another request`);
    asked.phase = "answered";
  }
}
