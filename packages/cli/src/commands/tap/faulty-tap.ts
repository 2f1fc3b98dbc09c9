import type { Readable, Writable } from "node:stream";
import { Conversation, LineCutter, recordedBytes } from "@parlance/wire";
import type { FaultPlan } from "../../shared/faults/fault-option.js";
import { type FaultySink, FaultyStream } from "../../shared/faults/faulty-stream.js";
import type { Recorder } from "../../shared/recorder/recorder.js";
import { directions, type LineStream } from "../../shared/recorder/recorder-messages.js";

type CutLine = ReturnType<LineCutter["push"]>[number];

/** The recorder and the outputs of a tap with faults. */
export interface FaultyTapEnds {
  readonly recorder: Recorder;
  readonly stderr: Writable;
  exit(code: number): void;
}

/** Bytes that may wait for a reader before the source is paused. */
const mostWaiting = 64 * 1024;

/** The one connection of a process that speaks on stdio. */
const stdio = "1";

/**
 * Forwards the streams of a tap line by line, with faults, and records both what came and what was made of it. It looks
 * before it forwards: what stands in the way of a conversation may as well take its time.
 */
export class FaultyTap {
  readonly #plan: FaultPlan;
  readonly #ends: FaultyTapEnds;
  readonly #conversation = new Conversation();
  #marks = 0;

  constructor(plan: FaultPlan, ends: FaultyTapEnds) {
    this.#plan = plan;
    this.#ends = ends;
    const { recorder } = ends;
    for (const { text } of plan.rules)
      recorder.add({ kind: "rule", entry: { k: "r", t: recorder.now(), fault: text, seed: plan.seed } });
  }

  /** Forwards one stream to its end. */
  forward(stream: LineStream, from: Readable, to: Writable, ended: () => void): void {
    const { recorder } = this.#ends;
    const cutter = new LineCutter();
    const faulty = new FaultyStream(this.#plan.rules, this.#plan.seed, this.#sink(stream, to));
    from.on("data", (bytes: Uint8Array) => {
      for (const line of cutter.push(bytes, recorder.now())) this.#take(line, stream, faulty);
      if (to.writableLength > mostWaiting) from.pause();
    });
    to.on("drain", () => from.resume());
    from.on("end", () => {
      const rest = cutter.end();
      if (rest !== undefined) this.#take(rest, stream, faulty);
      void faulty.end().then(() => {
        to.end();
        ended();
      });
    });
  }

  #take({ bytes, ...line }: CutLine, stream: LineStream, faulty: FaultyStream): void {
    this.#marks += 1;
    const mark = this.#marks;
    const place = { s: stdio, d: directions[stream], ch: stream };
    if (bytes.length < line.len)
      this.#ends.stderr.write(`parlance: a line of ${line.len} bytes is too long to pass faults whole\n`);
    this.#ends.recorder.frame({ ...place, ...line, bytes, mark });
    const { t, len, nl } = line;
    const row = this.#conversation.push({ k: "f", n: mark, t, len, nl, ...place, ...recordedBytes(bytes) });
    if (row !== undefined) faulty.take(row);
  }

  #sink(stream: LineStream, to: Writable): FaultySink {
    const { recorder, stderr, exit } = this.#ends;
    const place = { s: stdio, d: directions[stream], ch: stream, nl: "\n", by: "mutate" } as const;
    return {
      write: (bytes) => to.write(bytes),
      stderr: (text) => {
        stderr.write(`${text}\n`);
        recorder.stderr(Buffer.from(`${text}\n`), recorder.now());
      },
      close: () => to.end(),
      exit,
      applied: ({ text: fault }, { n }) =>
        recorder.add({
          kind: "rule",
          entry: { k: "r", t: recorder.now(), fault, seed: this.#plan.seed },
          ...(n !== undefined && { of: n }),
        }),
      passed: (bytes, { n }) =>
        recorder.frame({ ...place, t: recorder.now(), len: bytes.length, bytes, ...(n !== undefined && { of: n }) }),
    };
  }
}
