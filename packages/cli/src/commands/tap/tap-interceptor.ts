import type { Readable, Writable } from "node:stream";
import { Conversation, type Entry, LineCutter, type Row, recordedBytes } from "@parlance/wire";
import { type FaultPlan, type FaultRule, faultPlan } from "../../shared/faults/fault.js";
import { type FaultySink, FaultyStream } from "../../shared/faults/faulty-stream.js";
import { type ForwardEvents, mostWaiting } from "../../shared/forward.js";
import { Breakpoints } from "../../shared/intercept/breakpoints.js";
import type { Fate, FromInterceptor, Interceptor, ToInterceptor } from "../../shared/intercept/interception.js";
import type { Recorder } from "../../shared/recorder/recorder.js";
import { directions, type LineStream } from "../../shared/recorder/recorder-messages.js";

type RecorderRuleEntry = Extract<Entry, { k: "r" }>;
type CutLine = ReturnType<LineCutter["push"]>[number];

/** The recorder and the outputs of a tap that intercepts. */
export interface TapInterceptorEnds {
  readonly recorder: Recorder;
  readonly stderr: Writable;
  exit(code: number): void;
}

/** The name of the only session of a process on stdio. */
const stdio = "1";

const newline = 0x0a;

/**
 * Forwards the streams of a tap: unchanged while there is no rule, line by line while there is one. Then breakpoints hold lines
 * and faults change them, and the recording has both the original and the changed lines.
 */
export class TapInterceptor implements Interceptor {
  readonly #ends: TapInterceptorEnds;
  readonly #seed: number;
  readonly #breakpoints: Breakpoints;
  readonly #streams = new Map<LineStream, InterceptedStream>();
  /** The conversation of all lines since the first rule, for the filters. */
  #conversation: Conversation | undefined;
  #faults: readonly FaultRule[] = [];
  #marks = 0;
  /** Sends a report to the page. Default: reports are dropped. */
  tell: (report: FromInterceptor) => void = () => undefined;

  constructor(plan: FaultPlan | undefined, ends: TapInterceptorEnds) {
    this.#ends = ends;
    this.#seed = plan?.seed ?? 1;
    this.#breakpoints = new Breakpoints({
      tell: (report) => this.tell(report),
      record: ({ n }, filter, did, why) =>
        this.#recordRule({ break: filter, did, ...(why !== undefined && { why }) }, n),
    });
    this.#setFaults(plan?.rules ?? []);
  }

  /** Forwards one stream to its end. */
  forward(stream: LineStream, from: Readable, to: Writable, { chunk, ended }: ForwardEvents): void {
    const intercepted = new InterceptedStream({
      isActive: () => this.#faults.length > 0 || this.#breakpoints.isActive,
      holds: () => this.#breakpoints.holds(stream === "stdin" ? "client" : "server"),
      forward: (bytes) => {
        to.write(bytes);
        chunk(bytes);
      },
      now: () => this.#ends.recorder.now(),
      line: (line) => this.#take(line, stream),
      faulty: new FaultyStream(() => this.#faults, this.#seed, this.#sink(stream, to)),
    });
    this.#streams.set(stream, intercepted);
    from.on("data", (bytes: Uint8Array) => {
      intercepted.push(bytes);
      if (to.writableLength > mostWaiting) from.pause();
    });
    to.on("drain", () => from.resume());
    from.on("end", () => {
      intercepted.flush();
      this.#breakpoints.letGo(({ entry }) => entry.k === "f" && entry.ch === stream, "end");
      void intercepted.faulty.end().then(() => {
        to.end();
        ended();
      });
    });
  }

  /** Takes a command of the page. Ignores an invalid fault. */
  apply(command: ToInterceptor): void {
    if (command.do !== "rules") {
      this.#breakpoints.apply(command);
      return;
    }
    for (const filter of command.breakpoints) this.#recordRule({ break: filter });
    this.#breakpoints.set(command.breakpoints);
    // Keep the objects of unchanged rules, because frames may be waiting in them.
    const known = new Map(this.#faults.map((rule) => [rule.text, rule]));
    const added = command.faults.filter((text) => !known.has(text));
    const read = faultPlan({ fault: added, seed: this.#seed }, "stdio")?.rules ?? [];
    this.#setFaults([...this.#faults.filter(({ text }) => command.faults.includes(text)), ...read]);
    this.tell({ is: "applied", number: command.number });
  }

  #setFaults(rules: readonly FaultRule[]): void {
    const before = this.#faults;
    this.#faults = rules;
    for (const rule of rules.filter((each) => !before.includes(each))) this.#recordRule({ fault: rule.text });
  }

  #recordRule(rule: Pick<RecorderRuleEntry, "break" | "fault" | "did" | "why">, of?: number): void {
    const { recorder } = this.#ends;
    const seed = rule.fault !== undefined && { seed: this.#seed };
    recorder.add({ kind: "rule", entry: { k: "r", t: recorder.now(), ...rule, ...seed }, of });
  }

  #take({ bytes, ...line }: CutLine, stream: LineStream): void {
    this.#marks += 1;
    const mark = this.#marks;
    const place = { s: stdio, d: directions[stream], ch: stream };
    if (bytes.length < line.len)
      this.#ends.stderr.write(`parlance: a line of ${line.len} bytes is too long for breakpoints and faults\n`);
    this.#ends.recorder.frame({ ...place, ...line, bytes, mark });
    const { t, len, nl } = line;
    this.#conversation ??= new Conversation({ keepRows: false });
    const row = this.#conversation.push({ k: "f", n: mark, t, len, nl, ...place, ...recordedBytes(bytes) });
    if (row !== undefined) this.#breakpoints.take(row, (fate) => this.#pass(row, fate, stream));
  }

  #pass(row: Row, fate: Fate, stream: LineStream): void {
    if (fate.did === "send") this.#streams.get(stream)?.faulty.take(row);
    if (fate.did === "change") this.#write(stream, fate.text, { by: "mutate", of: row.n });
    if (fate.did === "answer") this.#write(stream === "stdin" ? "stdout" : "stdin", fate.text, { by: "inject" });
  }

  /** Sends a text written by a person, as a line. */
  #write(
    stream: LineStream,
    text: string,
    { by, of }: { readonly by: "mutate" | "inject"; readonly of?: number | undefined },
  ): void {
    const { recorder } = this.#ends;
    const bytes = Buffer.from(text);
    this.#marks += 1;
    const mark = this.#marks;
    const frame = {
      s: stdio,
      d: directions[stream],
      ch: stream,
      t: recorder.now(),
      len: bytes.length,
      nl: "\n",
      by,
      ...(of !== undefined && { of }),
    } as const;
    recorder.frame({ ...frame, bytes, mark });
    this.#conversation?.push({ k: "f", n: mark, ...frame, ...recordedBytes(bytes) });
    this.#streams.get(stream)?.send(Buffer.concat([bytes, Buffer.from("\n")]));
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
      applied: ({ text }, { n }) => this.#recordRule({ fault: text }, n),
      passed: (bytes, { n: of }) => recorder.frame({ ...place, t: recorder.now(), len: bytes.length, bytes, of }),
    };
  }
}

interface InterceptedStreamOptions {
  /** Whether a rule is in force. */
  isActive(): boolean;
  /** Whether a line of this stream is held. */
  holds(): boolean;
  /** Forwards bytes unchanged, and records them. */
  forward(bytes: Uint8Array): void;
  now(): number;
  line(line: CutLine): void;
  readonly faulty: FaultyStream;
}

/** One stream, which switches between chunks and lines at the end of a line. */
class InterceptedStream {
  readonly faulty: FaultyStream;
  readonly #options: InterceptedStreamOptions;
  readonly #cutter = new LineCutter();
  #mode: "chunks" | "lines" = "chunks";
  /** Whether the last forwarded chunk ended with a line break. */
  #isAtLineStart = true;
  readonly #postponed: Uint8Array[] = [];

  constructor(options: InterceptedStreamOptions) {
    this.#options = options;
    this.faulty = options.faulty;
  }

  push(bytes: Uint8Array): void {
    const { isActive, holds, now, line } = this.#options;
    const rest = this.#mode === "chunks" && !isActive() ? this.#forward(bytes) : this.#begin(bytes);
    if (rest.length === 0) return;
    for (const each of this.#cutter.push(rest, now())) line(each);
    if (!isActive() && this.#cutter.held === 0 && !holds() && this.faulty.isIdle) this.#mode = "chunks";
  }

  /** Called at the end of the source, whose last line may have no line break. */
  flush(): void {
    const rest = this.#mode === "lines" ? this.#cutter.end() : undefined;
    if (rest !== undefined) this.#options.line(rest);
  }

  /** Sends an additional line, not in the middle of another one. */
  send(line: Uint8Array): void {
    if (this.#isAtLineStart) this.faulty.send(line);
    else this.#postponed.push(line);
  }

  #forward(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0) return bytes;
    this.#options.forward(bytes);
    this.#isAtLineStart = bytes.at(-1) === newline;
    return bytes.subarray(bytes.length);
  }

  /** Ends the line that was begun. Returns the bytes after it. */
  #begin(bytes: Uint8Array): Uint8Array {
    if (this.#mode === "lines") return bytes;
    const end = this.#isAtLineStart ? 0 : bytes.indexOf(newline) + 1;
    if (!this.#isAtLineStart) this.#forward(end === 0 ? bytes : bytes.subarray(0, end));
    if (!this.#isAtLineStart) return bytes.subarray(bytes.length);
    this.#mode = "lines";
    for (const line of this.#postponed.splice(0)) this.faulty.send(line);
    return bytes.subarray(end);
  }
}
