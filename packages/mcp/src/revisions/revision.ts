import type { Method, NotificationMethod } from "../protocol/methods.js";
import type { Codes, Facts } from "./facts.js";
import { chain, keep, type Reshape } from "./reshape.js";

/** How a conversation lives: opened by `initialize`, or every request for itself. */
export type Era = "handshake" | "stateless";

/** Which part of a call a step reshapes; that of a notification are its params. */
export type StepOf = "params" | "result" | "notification";

/** One thing per side, by who sends it. */
export interface BySender<Thing> {
  readonly client: Thing;
  readonly server: Thing;
}

/** In the place of a method: all of them. */
export const anyMethod = "*";

/**
 * One difference in shape, stated by the revision that brought it.
 *
 * There is only a way down. Receivers read the members of every revision, so what comes from an older peer needs no
 * step: no revision has renamed a member, or given one another meaning.
 */
export interface Step {
  readonly of: StepOf;
  readonly method: Method | NotificationMethod | typeof anyMethod;
  /** From this revision's shape to that of the revision before. */
  readonly down: Reshape;
  /** Where the specification says so. */
  readonly spec: string;
}

/** A revision as its own file states it. */
export interface Edition {
  readonly version: string;
  readonly era: Era;
  /** The requests that a side may send. Any other method is answered with −32601. */
  readonly requests: BySender<ReadonlySet<string>>;
  /** The notifications that a side may send. Any other is ignored. */
  readonly notifications: BySender<ReadonlySet<string>>;
  /** What a server may ask inside an `input_required` result, instead of sending a request of its own. */
  readonly inputRequests: ReadonlySet<string>;
  readonly facts: Facts;
  readonly codes: Codes;
  /** What the revision changed in shapes. */
  readonly steps: readonly Step[];
  /** What earlier revisions have in their shapes and this one has no more: the newest shape keeps a place for it. */
  readonly dropped: readonly Step[];
}

/** What a side may send since a revision, and what no more. */
export interface MethodChanges<Name> {
  readonly added?: readonly Name[];
  readonly removed?: readonly Name[];
}

/** What a revision changed. In its file, a comment behind a change names the page of its specification. */
export interface Changes {
  readonly era?: Era;
  readonly requests?: Partial<BySender<MethodChanges<Method>>>;
  readonly notifications?: Partial<BySender<MethodChanges<NotificationMethod>>>;
  readonly inputRequests?: MethodChanges<Method>;
  readonly facts?: Partial<Facts>;
  readonly codes?: Partial<Codes>;
  readonly steps?: readonly Step[];
  readonly dropped?: readonly Step[];
}

/** The revision that `changes` make of the one before. */
export function revise(previous: Edition, version: string, changes: Changes): Edition {
  const {
    era = previous.era,
    requests,
    notifications,
    inputRequests,
    facts,
    codes,
    steps = [],
    dropped = [],
  } = changes;
  return {
    version,
    era,
    requests: reviseSenders(previous.requests, requests),
    notifications: reviseSenders(previous.notifications, notifications),
    inputRequests: reviseMethods(previous.inputRequests, inputRequests),
    facts: { ...previous.facts, ...facts },
    codes: { ...previous.codes, ...codes },
    steps,
    dropped: [...previous.dropped, ...dropped],
  };
}

type Sendable = BySender<ReadonlySet<string>>;

function reviseSenders(previous: Sendable, changes: Partial<BySender<MethodChanges<string>>> = {}): Sendable {
  return {
    client: reviseMethods(previous.client, changes.client),
    server: reviseMethods(previous.server, changes.server),
  };
}

function reviseMethods(previous: ReadonlySet<string>, changes: MethodChanges<string> = {}): ReadonlySet<string> {
  const { added = [], removed = [] } = changes;
  return new Set([...previous, ...added].filter((method) => !removed.includes(method)));
}

/**
 * A published revision of the protocol: what may be sent, by whom, and how it looks. Code asks it by fact, never by
 * version.
 */
export interface Revision extends Edition {
  /** Turns the newest shape into this revision's. The very same value comes back when there is nothing to change. */
  down(of: StepOf, method: string, value: unknown): unknown;
}

/**
 * A revision with its way down from the newest shape.
 * @param newer the revisions after it, newest first
 */
export function publish(edition: Edition, newer: readonly Edition[] = []): Revision {
  const path = [...newer.flatMap(({ steps }) => steps), ...edition.dropped];
  const reshapes = {
    params: reshapesOf(path, "params"),
    result: reshapesOf(path, "result"),
    notification: reshapesOf(path, "notification"),
  };
  return {
    ...edition,
    down(of, method, value) {
      const reshape = reshapes[of].get(method) ?? reshapes[of].get(anyMethod) ?? keep;
      return reshape(value);
    },
  };
}

/** For every method that a step names, its steps and those for any method, in order, as one. */
function reshapesOf(path: readonly Step[], of: StepOf): ReadonlyMap<string, Reshape> {
  const steps = path.filter((step) => step.of === of);
  return new Map(
    steps.map(({ method }): [string, Reshape] => {
      const relevant = steps.filter((step) => step.method === method || step.method === anyMethod);
      return [method, chain(relevant.map(({ down }) => down))];
    }),
  );
}
