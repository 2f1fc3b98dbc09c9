import { methods } from "@parlance/mcp/protocol";
import { canonicalJson, ignoring, significant, targetOf, type WireMessage } from "@parlance/wire";
import type { ReplayStep } from "./replay-steps.js";

/** How a message must be like the recorded one. `order`: exactly, and in the recorded order. */
export const matchModes = ["exact", "method", "order"] as const;

/** One of them. */
export type MatchMode = (typeof matchModes)[number];

/** Members that do not distinguish requests: metadata, and values that the sender chooses freely. */
const ignores = ignoring(["/_meta", "/requestId", "/progressToken"]);

/** Requests that open a conversation. They match whatever their params: each client names itself. */
const openers: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover]);

/** Finds what of a recording is meant by what a client says. */
export class Matching {
  readonly #scenes: readonly ReplayStep[];
  readonly #mode: MatchMode;
  readonly #times = new Map<ReplayStep, number>();

  constructor(scenes: readonly ReplayStep[], mode: MatchMode) {
    this.#scenes = scenes.filter(({ trigger }) => trigger !== undefined);
    this.#mode = mode;
  }

  /** Recorded requests and notifications that were never asked for, in their order. */
  get unused(): readonly ReplayStep[] {
    return this.#scenes.filter((scene) => !this.#times.has(scene));
  }

  /** The requests that were asked for more often than they were recorded. */
  get repeated(): readonly ReplayStep[] {
    return this.#scenes.filter((scene) => (this.#times.get(scene) ?? 0) > 1);
  }

  /** The scene that a message begins. One that was played already plays again if there is no other. */
  take(message: WireMessage): ReplayStep | undefined {
    const scene = this.#find(message);
    if (scene !== undefined) this.#times.set(scene, (this.#times.get(scene) ?? 0) + 1);
    return scene;
  }

  /** The recorded message that is most like one that matches none: of its method, and of its target if there is one. */
  nearest(message: WireMessage): WireMessage | undefined {
    const cues = this.#scenes.flatMap(({ trigger }) =>
      trigger !== undefined && trigger.method === message.method ? [trigger] : [],
    );
    return cues.find((cue) => targetOf(cue.params) === targetOf(message.params)) ?? cues[0];
  }

  #find(message: WireMessage): ReplayStep | undefined {
    const isAlike = (scene: ReplayStep): boolean => keyOf(scene.trigger) === keyOf(message);
    // Only requests have an order that a client can keep: a notification may overtake an answer.
    if (this.#mode === "order" && message.kind === "req") {
      const next = this.unused.find(({ trigger }) => trigger?.kind === "req");
      return next !== undefined && isAlike(next) ? next : undefined;
    }
    const exact = this.#choose(isAlike);
    if (exact !== undefined || this.#mode !== "method") return exact;
    const target = targetOf(message.params);
    const isSame = ({ trigger }: ReplayStep): boolean =>
      trigger !== undefined && trigger.method === message.method && trigger.kind === message.kind;
    return (
      this.#choose((scene) => isSame(scene) && targetOf(scene.trigger?.params ?? {}) === target) ?? this.#choose(isSame)
    );
  }

  /** The first that was not played; else the last. */
  #choose(isMeant: (scene: ReplayStep) => boolean): ReplayStep | undefined {
    const meant = this.#scenes.filter(isMeant);
    return meant.find((scene) => !this.#times.has(scene)) ?? meant.at(-1);
  }
}

const keys = new WeakMap<WireMessage, string>();

function keyOf(message: WireMessage | undefined): string {
  if (message === undefined) return "";
  const known = keys.get(message);
  if (known !== undefined) return known;
  const params = openers.has(message.method) ? "" : canonicalJson(significant(message.params, ignores) ?? {});
  const key = `${message.kind} ${message.method} ${params}`;
  keys.set(message, key);
  return key;
}
