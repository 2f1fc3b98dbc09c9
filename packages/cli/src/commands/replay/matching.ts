import { methods } from "@parlance/mcp/protocol";
import { canonicalJson, ignoring, significant, targetOf, type WireMessage } from "@parlance/wire";
import type { ReplayStep, TriggeredStep } from "./replay-steps.js";

/** How a message must match the recorded one. `order`: exactly, and in the recorded order. */
export const matchModes = ["exact", "method", "order"] as const;

/** A mode of matching. */
export type MatchMode = (typeof matchModes)[number];

/** Members that do not distinguish requests: metadata, and values that the sender chooses freely. */
const ignores = ignoring(["/_meta", "/requestId", "/progressToken"]);

/** Requests that open a conversation. Their params are not compared, because each client names itself there. */
const openers: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover]);

/** Finds the recorded message that matches a message of a client. */
export class Matching {
  readonly #steps: readonly TriggeredStep[];
  readonly #mode: MatchMode;
  readonly #times = new Map<TriggeredStep, number>();

  constructor(steps: readonly ReplayStep[], mode: MatchMode) {
    this.#steps = steps.filter((step): step is TriggeredStep => step.trigger !== undefined);
    this.#mode = mode;
  }

  /** The recorded requests and notifications that were never matched, in order. */
  get unused(): readonly TriggeredStep[] {
    return this.#steps.filter((step) => !this.#times.has(step));
  }

  /** The requests that came more often than they were recorded. */
  get repeated(): readonly TriggeredStep[] {
    return this.#steps.filter((step) => (this.#times.get(step) ?? 0) > 1);
  }

  /** The step that a message triggers. A step is repeated if no other one matches. */
  take(message: WireMessage): TriggeredStep | undefined {
    const step = this.#find(message);
    if (step !== undefined) this.#times.set(step, (this.#times.get(step) ?? 0) + 1);
    return step;
  }

  /** The recorded message that is nearest to one without a match: of the same method, preferably with the same target. */
  nearest(message: WireMessage): WireMessage | undefined {
    const triggers = this.#steps.map(({ trigger }) => trigger).filter(({ method }) => method === message.method);
    return triggers.find((each) => targetOf(each.params) === targetOf(message.params)) ?? triggers[0];
  }

  #find(message: WireMessage): TriggeredStep | undefined {
    const isAlike = (step: TriggeredStep): boolean => keyOf(step.trigger) === keyOf(message);
    // The order is required of requests only: a client cannot control whether a notification overtakes a response.
    if (this.#mode === "order" && message.kind === "req") {
      const next = this.unused.find(({ trigger }) => trigger.kind === "req");
      return next !== undefined && isAlike(next) ? next : undefined;
    }
    const exact = this.#choose(isAlike);
    if (exact !== undefined || this.#mode !== "method") return exact;
    const target = targetOf(message.params);
    const isSame = ({ trigger }: TriggeredStep): boolean =>
      trigger.method === message.method && trigger.kind === message.kind;
    return this.#choose((step) => isSame(step) && targetOf(step.trigger.params) === target) ?? this.#choose(isSame);
  }

  /** The first step that was not played; else the last. */
  #choose(isMeant: (step: TriggeredStep) => boolean): TriggeredStep | undefined {
    const meant = this.#steps.filter(isMeant);
    return meant.find((step) => !this.#times.has(step)) ?? meant.at(-1);
  }
}

const keys = new WeakMap<WireMessage, string>();

function keyOf(message: WireMessage): string {
  const known = keys.get(message);
  if (known !== undefined) return known;
  const params = openers.has(message.method) ? "" : canonicalJson(significant(message.params, ignores) ?? {});
  const key = `${message.kind} ${message.method} ${params}`;
  keys.set(message, key);
  return key;
}
