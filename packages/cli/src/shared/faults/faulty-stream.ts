import { setTimeout as delay } from "node:timers/promises";
import type { Row } from "@parlance/wire";
import type { FaultRule } from "./fault-option.js";
import { type Act, type FaultyFrame, faultyFrame } from "./faulty-frame.js";
import { seeded, shuffled } from "./random.js";

/** Where the frames of one direction go. */
export interface FaultySink {
  /** Writes bytes; a line break is among them. */
  write(bytes: Uint8Array): void;
  stderr(text: string): void;
  /** Ends the output. */
  close(): void;
  /** Ends the process. */
  exit(code: number): void;
  /** Called with the rule that was applied to a frame, before anything is written. */
  applied(rule: FaultRule, row: Row): void;
  /** Called with what was sent instead of a frame, without its line break. */
  passed(bytes: Uint8Array, row: Row): void;
}

/** Milliseconds that frames are held for reordering: a peer that waits for a response sends no further frame. */
const longestHold = 500;

/** Forwards the frames of one direction, and applies the fault of the first rule that matches. */
export class FaultyStream {
  readonly #rules: readonly FaultRule[];
  readonly #sink: FaultySink;
  readonly #random: () => number;
  readonly #held = new Map<FaultRule, Row[]>();
  /** Writes run one after the other, so that a frame sent in pieces is not interrupted. */
  #tail: Promise<void> = Promise.resolve();
  readonly #late = new Set<Promise<void>>();
  #closed = false;

  constructor(rules: readonly FaultRule[], seed: number, sink: FaultySink) {
    this.#rules = rules;
    this.#sink = sink;
    this.#random = seeded(seed);
  }

  /** Takes the next frame. */
  take(row: Row): void {
    const rule = this.#rules.find(({ chooses }) => chooses(row));
    if (rule === undefined) {
      this.#enqueue(row, [{ is: "send", pieces: [row.frame?.bytes ?? new Uint8Array(0)], every: 0 }], false);
      return;
    }
    this.#sink.applied(rule, row);
    if (rule.fault.is === "reorder") this.#hold(rule, row, rule.fault.frames);
    else this.#begin(row, faultyFrame(rule.fault, row, this.#random));
  }

  /** No more frames will come. Resolves when everything is written. */
  async end(): Promise<void> {
    for (const rule of [...this.#held.keys()]) this.#release(rule);
    await Promise.all(this.#late);
    await this.#tail;
  }

  #begin(row: Row, { after, acts }: FaultyFrame): void {
    if (after === 0) {
      this.#enqueue(row, acts, true);
      return;
    }
    const late = delay(after).then(() => {
      this.#late.delete(late);
      this.#enqueue(row, acts, true);
    });
    this.#late.add(late);
  }

  #hold(rule: FaultRule, row: Row, frames: number): void {
    const held = [...(this.#held.get(rule) ?? []), row];
    this.#held.set(rule, held);
    if (held.length >= frames) this.#release(rule);
    else if (held.length === 1) setTimeout(() => this.#release(rule), longestHold).unref();
  }

  #release(rule: FaultRule): void {
    const held = this.#held.get(rule) ?? [];
    this.#held.delete(rule);
    for (const row of shuffled(held, this.#random)) this.#begin(row, faultyFrame(rule.fault, row, this.#random));
  }

  #enqueue(row: Row, acts: readonly Act[], mutated: boolean): void {
    this.#tail = this.#tail.then(() => this.#perform(row, acts, mutated));
  }

  async #perform(row: Row, acts: readonly Act[], mutated: boolean): Promise<void> {
    for (const act of acts) {
      if (this.#closed) return;
      if (act.is === "stderr") this.#sink.stderr(act.text);
      else if (act.is === "send") await this.#send(act, row, mutated);
      else {
        this.#closed = true;
        if (act.is === "exit") this.#sink.exit(act.code);
        else this.#sink.close();
      }
    }
  }

  async #send({ pieces, every }: Extract<Act, { is: "send" }>, row: Row, mutated: boolean): Promise<void> {
    const { entry } = row;
    const lineBreak = Buffer.from(entry.k === "f" ? entry.nl : "\n");
    if (mutated) this.#sink.passed(Buffer.concat(pieces), row);
    for (const [at, piece] of pieces.entries()) {
      if (at > 0) await delay(every);
      this.#sink.write(at === pieces.length - 1 ? Buffer.concat([piece, lineBreak]) : piece);
    }
  }
}
