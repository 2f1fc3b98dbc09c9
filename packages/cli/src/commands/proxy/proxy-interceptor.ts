import { Conversation, type Entry, type FrameEntry, type Row, recordedBytes } from "@parlance/wire";
import { type Fault, type FaultPlan, type FaultRule, faultPlan } from "../../shared/faults/fault.js";
import { seeded } from "../../shared/faults/faulty-stream.js";
import { Breakpoints } from "../../shared/intercept/breakpoints.js";
import type { Fate, FromInterceptor, Interceptor, ToInterceptor } from "../../shared/intercept/interception.js";
import type { Recorder } from "../../shared/recorder/recorder.js";
import type { ExchangeRecord, ExchangeStart } from "./exchange-record.js";

type RecorderRuleEntry = Extract<Entry, { k: "r" }>;

/** The parts of an HTTP request that a filter can match. */
export interface FilteredRequest extends Pick<ExchangeStart, "x" | "method" | "url" | "headers"> {
  readonly body: Uint8Array;
  readonly record: ExchangeRecord;
}

/** A message of an exchange, before it is forwarded. */
export interface FrameOnItsWay extends Pick<FrameEntry, "d" | "ch" | "ev"> {
  readonly x: number;
  readonly bytes: Uint8Array;
  readonly record: ExchangeRecord;
}

/** The session name in the conversation that the filters see: only the recorder distinguishes sessions. */
const only = "1";

/** Chooses the fault of an exchange by the head or the message of its request, and holds messages at breakpoints. */
export class ProxyInterceptor implements Interceptor {
  readonly #recorder: Recorder;
  readonly #random: () => number;
  readonly #seed: number;
  readonly #breakpoints: Breakpoints;
  /** The exchanges of held frames, by the numbers of their rows. */
  readonly #holding = new Map<number, { readonly record: ExchangeRecord; readonly mark: number | undefined }>();
  #conversation: Conversation | undefined;
  #faults: readonly FaultRule[] = [];
  #n = 0;
  #marks = 0;
  /** Sends a report to the page. Default: reports are dropped. */
  tell: (report: FromInterceptor) => void = () => undefined;

  constructor(plan: FaultPlan | undefined, recorder: Recorder) {
    this.#recorder = recorder;
    this.#seed = plan?.seed ?? 1;
    this.#random = seeded(this.#seed);
    this.#breakpoints = new Breakpoints({
      tell: (report) => this.tell(report),
      record: ({ n = 0 }, filter, did, why) => this.#recordFate(n, { break: filter, did, ...(why && { why }) }),
    });
    this.#setFaults(plan?.rules ?? []);
  }

  /** Whether a rule is in force, or a message is held. */
  get isActive(): boolean {
    return this.#faults.length > 0 || this.#breakpoints.isActive;
  }

  /** Returns a mark for a recorded frame, by which rules refer to it; undefined without rules. */
  readonly mark = (): number | undefined => {
    if (!this.isActive) return undefined;
    this.#marks += 1;
    return this.#marks;
  };

  /** Takes a command of the page. */
  apply(command: ToInterceptor): void {
    if (command.do !== "rules") {
      this.#breakpoints.apply(command);
      return;
    }
    for (const filter of command.breakpoints) this.#set({ break: filter });
    this.#breakpoints.set(command.breakpoints);
    this.#setFaults(faultPlan({ fault: command.faults, seed: this.#seed }, "http")?.rules ?? []);
    this.tell({ is: "applied", number: command.number });
  }

  /** The fault of the first rule that matches a request, and the decision on its message. */
  async decide({
    x,
    method,
    url,
    headers,
    body,
    record,
  }: FilteredRequest): Promise<{ fault: Fault | undefined; fate: Fate }> {
    const t = this.#recorder.now();
    this.#conversation ??= new Conversation({ keepRows: false });
    const head = this.#conversation.push({ k: "h", n: this.#next(), s: only, t, x, ph: "req", method, url, headers });
    const frame = body.length === 0 ? undefined : this.#rowOf({ d: "c2s", ch: "http", x, bytes: body, record });
    const rows = [head, frame].filter((row) => row !== undefined);
    const rule = this.#faults.find(({ chooses }) => rows.some(chooses));
    const fate = frame === undefined ? ({ did: "send" } as const) : await this.#fateOf(frame, record);
    if (rule !== undefined && fate.did === "send") {
      const mark = record.markOf("c2s");
      // A request without a message has no frame.
      const text = mark === undefined ? `${rule.text} (exchange ${x})` : rule.text;
      record.rule({ k: "r", t: this.#recorder.now(), fault: text, seed: this.#seed }, mark);
    }
    return { fault: fate.did === "send" ? rule?.fault : undefined, fate };
  }

  /** The decision on a message of a response. Resolves at once if no breakpoint holds it. */
  pass(frame: FrameOnItsWay): Promise<Fate> {
    const row = this.#rowOf(frame);
    return row === undefined ? Promise.resolve({ did: "send" }) : this.#fateOf(row, frame.record);
  }

  /** Releases the held messages of an exchange, because one side has disconnected. */
  leave(x: number): void {
    this.#breakpoints.letGo(({ entry }) => entry.k === "f" && entry.req === x, "end");
    // Otherwise the conversation would keep it.
    this.#conversation?.push({ k: "h", n: this.#next(), s: only, t: this.#recorder.now(), x, ph: "end" });
  }

  /** Milliseconds to delay a request. */
  waitOf(fault: Extract<Fault, { is: "delay" }>): number {
    return Math.max(0, fault.for + (this.#random() * 2 - 1) * fault.spread);
  }

  #rowOf({ d, ch, ev, x, bytes }: FrameOnItsWay): Row | undefined {
    const t = this.#recorder.now();
    const place = { s: only, d, ch, len: bytes.length, nl: "", req: x, ...(ev !== undefined && { ev }) } as const;
    this.#conversation ??= new Conversation({ keepRows: false });
    return this.#conversation.push({ k: "f", n: this.#next(), t, ...place, ...recordedBytes(bytes) });
  }

  #fateOf(row: Row, record: ExchangeRecord): Promise<Fate> {
    const { n = 0, from } = row;
    this.#holding.set(n, { record, mark: record.markOf(from === "client" ? "c2s" : "s2c") });
    return new Promise((resolve) => {
      this.#breakpoints.take(row, (fate) => {
        this.#holding.delete(n);
        resolve(fate);
      });
    });
  }

  #recordFate(n: number, rule: Pick<RecorderRuleEntry, "break" | "did" | "why">): void {
    const { record, mark } = this.#holding.get(n) ?? {};
    record?.rule({ k: "r", t: this.#recorder.now(), ...rule }, mark);
  }

  #setFaults(rules: readonly FaultRule[]): void {
    const before = new Set(this.#faults.map(({ text }) => text));
    this.#faults = rules;
    for (const { text } of rules) if (!before.has(text)) this.#set({ fault: text, seed: this.#seed });
  }

  #set(rule: Pick<RecorderRuleEntry, "break" | "fault" | "seed">): void {
    this.#recorder.add({ kind: "rule", entry: { k: "r", t: this.#recorder.now(), ...rule } });
  }

  #next(): number {
    this.#n += 1;
    return this.#n;
  }
}
