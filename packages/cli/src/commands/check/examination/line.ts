import type { Entry } from "@parlance/wire";
import type { JsonObject } from "../../../shared/json.js";

/** What came of something that was said. */
export interface Reply {
  /** The message that answers: with the id that was asked for, or an error without one. */
  readonly answer: JsonObject | undefined;
  /** Why there is none. */
  readonly silence: "nothing was owed" | "no answer in time" | "the server ended" | undefined;
  /** Of HTTP. */
  readonly status: number | undefined;
}

/** What is said over HTTP besides the body. */
export interface HttpWords {
  readonly method?: "POST" | "GET" | "DELETE";
  /** Replace those that a client has to send; an empty one is left out. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A connection to a server that is examined. It sends exactly what it is told, and takes whatever comes. */
export interface Line {
  readonly carrier: "channel" | "http";
  /**
   * Sends one frame as it is. With an id it waits for the answer, at most as long as the line has patience. Without one it
   * resolves when the frame is on its way, and over HTTP when it was answered.
   */
  say(text: string, id?: string | number, words?: HttpWords): Promise<Reply>;
  /** What a client does with a message of the server that is a request: it says so. Called in order of arrival. */
  onRequest: ((request: JsonObject) => string | undefined) | undefined;
  /** The errors without an id that have come so far: they answer what could not be read. */
  readonly unaddressed: readonly JsonObject[];
  /** The HTTP session that the server has named, if it has. */
  readonly sessionId: string | undefined;
  /** From now on every HTTP request names this version. */
  agree(version: string): void;
  /** Ends the conversation. Resolves to how long the server took to leave; undefined where it had to be killed. */
  close(): Promise<number | undefined>;
}

/** Takes what is observed on a line, for its recording. */
export type OnEntry = (entry: Entry) => void;

/** Numbers and times for the entries of one recording, however many lines are opened for it. */
export class Observer {
  readonly #start = performance.now();
  readonly #onEntry: OnEntry;
  #n = 0;
  #exchange = 0;

  constructor(onEntry: OnEntry) {
    this.#onEntry = onEntry;
  }

  /** Milliseconds since the recording began. */
  get now(): number {
    return Math.round((performance.now() - this.#start) * 1_000) / 1_000;
  }

  /** The number of an HTTP exchange that begins. */
  nextExchange(): number {
    this.#exchange += 1;
    return this.#exchange;
  }

  /** Records something that has just happened. */
  see(make: (n: number, t: number) => Entry): void {
    this.#n += 1;
    this.#onEntry(make(this.#n, this.now));
  }
}
