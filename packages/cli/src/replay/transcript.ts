import { Conversation, type Direction, type Entry, type Row, type Rule, recordedBytes } from "@parlance/mcp/wire";

/** Writes down what crosses while a recording is played, as the recording of it. */
export class Transcript {
  readonly conversation: Conversation;
  readonly entries: Entry[] = [];
  readonly #start = performance.now();
  #n = 0;

  constructor(rules?: readonly Rule[]) {
    this.conversation = new Conversation(rules === undefined ? {} : { rules });
  }

  /** Takes a line of stdio that has crossed. */
  frame(d: Direction, bytes: Uint8Array, nl: "\n" | "\r\n" | "" = "\n"): Row {
    this.#n += 1;
    const ch = d === "c2s" ? "stdin" : "stdout";
    const place = { k: "f", n: this.#n, s: "1", t: this.#now(), d, ch, len: bytes.length, nl } as const;
    const row = this.#push({ ...place, ...recordedBytes(bytes) });
    if (row === undefined) throw new Error("a frame is a row");
    return row;
  }

  #now(): number {
    return Math.round((performance.now() - this.#start) * 1_000) / 1_000;
  }

  #push(entry: Entry): Row | undefined {
    this.entries.push(entry);
    return this.conversation.push(entry);
  }
}
