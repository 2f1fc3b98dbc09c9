import type { Method, NotificationMethod } from "../methods.js";
import type { Codes, Facts } from "./facts.js";
import { chain, keep, type Reshape } from "./reshape.js";

/** How a session starts: with `initialize`, or not at all, because each request describes itself. */
export type Era = "handshake" | "stateless";

/** The part of a message that a step converts; for a notification, its params. */
export type StepOf = "params" | "result" | "notification";

/** One value per side, by the sender of the message. */
export interface BySender<Thing> {
  readonly client: Thing;
  readonly server: Thing;
}

/** Stands for all methods. */
export const anyMethod = "*";

/**
 * One change of a message's shape, listed in the revision that introduced it.
 * Messages are converted only to older revisions. Reading needs no conversion, because no revision has renamed a member
 * or changed its meaning.
 */
export interface Step {
  readonly of: StepOf;
  readonly method: Method | NotificationMethod | typeof anyMethod;
  /** Converts from this revision's shape to the previous revision's. */
  readonly down: Reshape;
  /** The page of the specification that describes the change. */
  readonly spec: string;
}

/** A revision as defined in its own file. */
export interface Edition {
  readonly version: string;
  readonly era: Era;
  /** The requests that each side may send. Other methods get −32601. */
  readonly requests: BySender<ReadonlySet<string>>;
  /** The notifications that each side may send. Others are ignored. */
  readonly notifications: BySender<ReadonlySet<string>>;
  /** The requests that a server may put into an `input_required` result instead of sending them. */
  readonly inputRequests: ReadonlySet<string>;
  readonly facts: Facts;
  readonly codes: Codes;
  /** The shape changes of this revision. */
  readonly steps: readonly Step[];
  /**
   * Members of older revisions that this revision removed. The newest shape still has them, so these steps remove them.
   */
  readonly dropped: readonly Step[];
}

/** The methods that a revision adds and removes for one side. */
export interface MethodChanges<Name> {
  readonly added?: readonly Name[];
  readonly removed?: readonly Name[];
}

/** The changes of a revision. In its file, the comment after a change names the specification's page. */
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

/** Defines a revision as a list of changes to the previous one. */
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
 * A published revision of the protocol: methods, facts, error codes and shapes. Code asks for facts, never for the
 * version.
 */
export interface Revision extends Edition {
  /** Converts from the newest shape to this revision's. Returns the same value if nothing changes. */
  down(of: StepOf, method: string, value: unknown): unknown;
}

/**
 * Completes a revision with the conversion from the newest shape.
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

/** Combines the steps of each method with those for all methods, in order, into one function. */
function reshapesOf(path: readonly Step[], of: StepOf): ReadonlyMap<string, Reshape> {
  const steps = path.filter((step) => step.of === of);
  return new Map(
    steps.map(({ method }): [string, Reshape] => {
      const relevant = steps.filter((step) => step.method === method || step.method === anyMethod);
      return [method, chain(relevant.map(({ down }) => down))];
    }),
  );
}
