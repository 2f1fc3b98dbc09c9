import { setTimeout as delay } from "node:timers/promises";
import { nodeAt, type Row } from "@parlance/wire";
import type { Fault, FaultRule } from "./fault.js";

/** The destination of the frames of one direction. */
export interface FaultySink {
  /** Writes bytes, including line breaks. */
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

/** The maximum milliseconds that frames are held for reordering: a peer that waits for a response sends no further frame. */
const longestHold = 500;

/** Forwards the frames of one direction, and applies the fault of the first rule that matches. */
export class FaultyStream {
  readonly #rules: () => readonly FaultRule[];
  readonly #sink: FaultySink;
  readonly #random: () => number;
  readonly #held = new Map<FaultRule, Row[]>();
  /** Writes run one after the other, so that a frame sent in pieces is not interrupted. */
  #tail: Promise<void> = Promise.resolve();
  readonly #late = new Set<Promise<void>>();
  /** The number of pending writes. */
  #queued = 0;
  #closed = false;

  /** @param rules returns the rules in force; called for every frame */
  constructor(rules: () => readonly FaultRule[], seed: number, sink: FaultySink) {
    this.#rules = rules;
    this.#sink = sink;
    this.#random = seeded(seed);
  }

  /** Takes the next frame. */
  take(row: Row): void {
    const rule = this.#rules().find(({ chooses }) => chooses(row));
    if (rule === undefined) {
      this.#enqueue(row, [{ is: "send", pieces: [row.frame?.bytes ?? new Uint8Array(0)], every: 0 }], false);
      return;
    }
    this.#sink.applied(rule, row);
    if (rule.fault.is === "reorder") this.#hold(rule, row, rule.fault.frames);
    else this.#begin(row, faultyFrame(rule.fault, row, this.#random));
  }

  /** Writes bytes after all earlier frames, without applying rules. */
  send(bytes: Uint8Array): void {
    this.#queue(() => {
      if (!this.#closed) this.#sink.write(bytes);
    });
  }

  /** Whether every frame has been written. */
  get isIdle(): boolean {
    return this.#queued === 0 && this.#late.size === 0 && this.#held.size === 0;
  }

  /** Ends the stream. Resolves when everything is written. */
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
    this.#queue(() => this.#perform(row, acts, mutated));
  }

  #queue(write: () => void | Promise<void>): void {
    this.#queued += 1;
    this.#tail = this.#tail.then(write).then(() => {
      this.#queued -= 1;
    });
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

/** One step that replaces the forwarding of a frame. */
export type Act =
  /** Sends a frame in pieces, one after the other. */
  | { readonly is: "send"; readonly pieces: readonly Uint8Array[]; readonly every: number }
  | { readonly is: "stderr"; readonly text: string }
  | { readonly is: "close" }
  | { readonly is: "exit"; readonly code: number };

/** The steps that replace the forwarding of a frame, and their delay in milliseconds. */
export interface FaultyFrame {
  readonly after: number;
  readonly acts: readonly Act[];
}

/** Applies a fault to a frame. `reorder` and the faults of HTTP are applied elsewhere. */
function faultyFrame(fault: Fault, row: Row, random: () => number): FaultyFrame {
  const bytes = row.frame?.bytes ?? new Uint8Array(0);
  const now = (...acts: readonly Act[]): FaultyFrame => ({ after: 0, acts });
  switch (fault.is) {
    case "delay":
      return { after: Math.max(0, fault.for + (random() * 2 - 1) * fault.spread), acts: [whole(bytes)] };
    case "drop":
      return now();
    case "dup":
      return now(whole(bytes), whole(bytes));
    case "corrupt":
      return now(whole(corrupted(bytes, fault.at ?? Math.floor(random() * bytes.length), random)));
    case "truncate":
      return now(whole(bytes.subarray(0, Math.floor((bytes.length * fault.percent) / 100))));
    case "split":
      return now({ is: "send", pieces: split(bytes, fault.pieces), every: fault.every });
    case "wrong-id":
      return now(whole(withId(row, bytes, (id) => (id.startsWith('"') ? `"wrong ${id.slice(1)}` : `${id}9`))));
    case "string-id":
      return now(whole(withId(row, bytes, (id) => (id.startsWith('"') ? id : JSON.stringify(id)))));
    case "noise":
      return now(whole(Buffer.from(fault.text)), whole(bytes));
    case "stderr":
      return now({ is: "stderr", text: fault.text }, whole(bytes));
    case "close":
      return now({ is: "close" });
    case "exit":
      return now({ is: "exit", code: fault.code });
    default:
      return now(whole(bytes));
  }
}

function whole(bytes: Uint8Array): Act {
  return { is: "send", pieces: [bytes], every: 0 };
}

const newline = 0x0a;

/** Changes one byte, but never to a line break, which would be another fault. */
function corrupted(bytes: Uint8Array, at: number, random: () => number): Uint8Array {
  const copy = bytes.slice();
  const before = copy[at];
  if (before === undefined) return copy;
  const after = before ^ (1 + Math.floor(random() * 255));
  copy[at] = after === newline ? before ^ 1 : after;
  return copy;
}

function split(bytes: Uint8Array, pieces: number): readonly Uint8Array[] {
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

function withId({ messages }: Row, bytes: Uint8Array, change: (id: string) => string): Uint8Array {
  return replaced(
    bytes,
    messages.flatMap(({ node, id }) => {
      const at = nodeAt(node, "/id");
      return at === undefined || id === undefined ? [] : [{ at, text: change(id) }];
    }),
  );
}

/** Pseudorandom numbers from 0 to 1 from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The items in another order; every item moves. */
function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const all = [...items];
  for (let last = all.length - 1; last > 0; last -= 1) {
    // Never the item itself, so that every item moves (Sattolo).
    const other = Math.floor(random() * last);
    [all[last], all[other]] = [all[other] as Item, all[last] as Item]; // Both indexes exist.
  }
  return all;
}

/** A range of bytes, such as that of a JSON value, and the text that replaces it. */
export interface Replacement {
  readonly at: { readonly start: number; readonly end: number };
  readonly text: string;
}

const encoder = new TextEncoder();

/** Bytes with some of their pieces replaced. */
export function replaced(bytes: Uint8Array, replacements: readonly Replacement[]): Uint8Array {
  if (replacements.length === 0) return bytes;
  const parts: Uint8Array[] = [];
  let done = 0;
  for (const { at, text } of [...replacements].sort((a, b) => a.at.start - b.at.start)) {
    parts.push(bytes.subarray(done, at.start), encoder.encode(text));
    done = at.end;
  }
  return Buffer.concat([...parts, bytes.subarray(done)]);
}
