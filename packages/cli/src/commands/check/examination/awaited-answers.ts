import type { JsonObject } from "../../../shared/json.js";
import type { Reply } from "./line.js";

/** Those who wait for an answer on a line, by the id that they have asked with. */
export class AwaitedAnswers {
  readonly #waiting = new Map<string, (reply: Reply) => void>();
  readonly #patience: number;
  #nextPatience: number;
  #ended = false;

  /** @param patience milliseconds; @param firstPatience those for the first answer, before which the server starts */
  constructor(patience: number, firstPatience: number = patience) {
    this.#patience = patience;
    this.#nextPatience = firstPatience;
  }

  /** Waits for the answer with an id. */
  wait(id: string | number): Promise<Reply> {
    if (this.#ended) return Promise.resolve(silent("the server ended"));
    const patience = this.#nextPatience;
    this.#nextPatience = this.#patience;
    return new Promise((resolve) => {
      const key = keyOf(id);
      const timer = setTimeout(() => finish(silent("no answer in time")), patience);
      const finish = (reply: Reply): void => {
        clearTimeout(timer);
        this.#waiting.delete(key);
        resolve(reply);
      };
      this.#waiting.set(key, finish);
    });
  }

  /** Takes a response, for whoever has asked with its id. */
  take(answer: JsonObject): void {
    this.#waiting.get(keyOf(answer.id))?.({ answer, silence: undefined, status: undefined });
  }

  /** Nothing more will come. */
  end(): void {
    this.#ended = true;
    for (const finish of [...this.#waiting.values()]) finish(silent("the server ended"));
  }
}

/** No answer, and why. */
export function silent(silence: NonNullable<Reply["silence"]>, status?: number): Reply {
  return { answer: undefined, silence, status };
}

function keyOf(id: unknown): string {
  return `${typeof id} ${String(id)}`;
}
