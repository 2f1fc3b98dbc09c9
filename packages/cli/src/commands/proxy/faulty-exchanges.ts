import { Conversation, recordedBytes } from "@parlance/wire";
import type { Fault } from "../../shared/faults/fault.js";
import type { FaultPlan } from "../../shared/faults/fault-option.js";
import { seeded } from "../../shared/faults/faulty-stream.js";
import type { Recorder } from "../../shared/recorder/recorder.js";

/** The parts of an HTTP request that a filter can match. */
export interface FilteredRequest {
  readonly x: number;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Chooses the fault of an exchange by the head of its request or by its message. */
export class FaultyExchanges {
  readonly #plan: FaultPlan;
  readonly #recorder: Recorder;
  readonly #conversation = new Conversation();
  readonly #random: () => number;
  #n = 0;

  constructor(plan: FaultPlan, recorder: Recorder) {
    this.#plan = plan;
    this.#recorder = recorder;
    this.#random = seeded(plan.seed);
    for (const { text } of plan.rules) this.#tell(text);
  }

  /** The fault of the first rule that matches the request. */
  faultOf({ x, method, url, headers, body }: FilteredRequest): Fault | undefined {
    const t = this.#recorder.now();
    const place = { s: "1", t } as const;
    const head = this.#conversation.push({ k: "h", n: this.#next(), ...place, x, ph: "req", method, url, headers });
    const way = { d: "c2s", ch: "http", len: body.length, nl: "", req: x } as const;
    const frame =
      body.length === 0
        ? undefined
        : this.#conversation.push({ k: "f", n: this.#next(), ...place, ...way, ...recordedBytes(body) });
    const rows = [head, frame].filter((row) => row !== undefined);
    const rule = this.#plan.rules.find(({ chooses }) => rows.some(chooses));
    if (rule !== undefined) this.#tell(`${rule.text} (exchange ${x})`);
    return rule?.fault;
  }

  /** Milliseconds to delay a request. */
  waitOf(fault: Extract<Fault, { is: "delay" }>): number {
    return Math.max(0, fault.for + (this.#random() * 2 - 1) * fault.spread);
  }

  #next(): number {
    this.#n += 1;
    return this.#n;
  }

  #tell(fault: string): void {
    const { seed } = this.#plan;
    this.#recorder.add({ kind: "rule", entry: { k: "r", t: this.#recorder.now(), fault, seed } });
  }
}
