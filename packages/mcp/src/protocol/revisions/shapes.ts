import { isObject } from "../json.js";
import { type Checker, faultsOf, ShapeCompiler } from "../shapes/checker.js";
import { amendTypes, type TypeChanges } from "../shapes/named-types.js";
import { any, integer, object, optional, type Shape, string } from "../shapes/shape.js";
import { describeValue, type ShapeFault } from "../shapes/shape-fault.js";
import type { BySender, PartName, RequestShape, Revision } from "./revision.js";

type Sender = keyof BySender<unknown>;

/** The part of a message that a value is. */
export type MessagePart =
  | {
      /** The part of the message: params, result or notification params. */
      readonly of: PartName;
      /** The method that the part belongs to. */
      readonly method: string;
      /** The side that sends the request or notification; the result of a request comes from the other side. */
      readonly sender: Sender;
    }
  /** The error object of an error response to any request. */
  | { readonly of: "error" };

/** Messages and types that an extension adds to a revision. */
export interface ShapeAdditions {
  /** New types, and changes to the revision's types while the extension is in use. */
  readonly types?: TypeChanges;
  /** Requests by sender. They replace requests of the same name. */
  readonly requests?: Partial<BySender<Readonly<Record<string, RequestShape>>>>;
  /** Notification params by sender. They replace those of the same name. */
  readonly notifications?: Partial<BySender<Readonly<Record<string, Shape>>>>;
}

/** The compiled shapes of a revision. */
export interface Shapes {
  /**
   * The places, at most a hundred, where a part of a message differs from its shape; empty if it is valid. Never
   * throws, for any JSON of any depth. Unknown members are not faults.
   */
  check(part: MessagePart, value: unknown): readonly ShapeFault[];
}

/**
 * Checks a part of a message of a published revision; see `Shapes`. For tests and tools; servers do not need it.
 *
 * @example
 * const part = { of: "params", method: "logging/setLevel", sender: "client" } as const;
 * checkShape(latestHandshake, part, { level: 5 }); // [{ pointer: "/level", expected: …, received: "5" }]
 */
export function checkShape(revision: Revision, part: MessagePart, value: unknown): readonly ShapeFault[] {
  const shapes = compiled.get(revision) ?? shapesOf(revision);
  compiled.set(revision, shapes);
  return shapes.check(part, value);
}

const compiled = new WeakMap<Revision, Shapes>();

/**
 * The shapes of a published revision, with those of extensions.
 *
 * @example
 * const faults = shapesOf(latest).check({ of: "result", method: "tools/list", sender: "client" }, result);
 *
 * @throws Error if an addition refers to a missing type, or has a change that does not fit its type
 */
export function shapesOf(revision: Revision, additions: readonly ShapeAdditions[] = []): Shapes {
  const { shapes } = revision;
  const types = additions.reduce((amended, added) => amendTypes(amended, added.types ?? {}), shapes.types);
  const compiler = new ShapeCompiler(types);
  const messages = compileMessages(compiler, [messagesOf(revision), ...additions]);
  const errors = compileErrors(compiler, revision);
  return {
    check(part, value) {
      if (part.of === "error") return faultsOf(errors(value), value).found;
      const checker = messages.get(keyOf(part));
      return checker === undefined ? [unknownMessage(part, revision)] : faultsOf(checker, value).found;
    },
  };
}

/** The revision's own messages in the form of additions. */
function messagesOf({ requests, inputRequests, notifications, shapes }: Revision): ShapeAdditions {
  return {
    requests: {
      client: pick(shapes.requests, requests.client),
      server: pick(shapes.requests, new Set([...requests.server, ...inputRequests])),
    },
    notifications: {
      client: pick(shapes.notifications, notifications.client),
      server: pick(shapes.notifications, notifications.server),
    },
  };
}

function pick<Thing>(all: ReadonlyMap<string, Thing>, names: ReadonlySet<string>): Readonly<Record<string, Thing>> {
  return Object.fromEntries([...all].filter(([name]) => names.has(name)));
}

type NamedPart = Exclude<MessagePart, { readonly of: "error" }>;

const senders: readonly Sender[] = ["client", "server"];

function compileMessages(compiler: ShapeCompiler, all: readonly ShapeAdditions[]): ReadonlyMap<string, Checker> {
  const checkers = new Map<string, Checker>();
  const add = (part: NamedPart, shape: Shape): void => {
    checkers.set(keyOf(part), compiler.compile(shape));
  };
  for (const { requests, notifications } of all) {
    for (const sender of senders) {
      for (const [method, { params, result }] of Object.entries(requests?.[sender] ?? {})) {
        add({ of: "params", method, sender }, params);
        add({ of: "result", method, sender }, result);
      }
      for (const [method, params] of Object.entries(notifications?.[sender] ?? {})) {
        add({ of: "notification", method, sender }, params);
      }
    }
  }
  return checkers;
}

function keyOf({ of, sender, method }: NamedPart): string {
  return `${of} ${sender} ${method}`;
}

/** Compiles the checker of each error code whose `data` the revision defines. */
function compileErrors(compiler: ShapeCompiler, { codes, shapes }: Revision): (error: unknown) => Checker {
  const known = new Set<unknown>(Object.values(codes));
  const errorWith = (data: Shape): Checker => compiler.compile(object({ code: integer, message: string, data }));
  const plain = errorWith(optional(any));
  const byCode = new Map<unknown, Checker>();
  for (const [code, data] of shapes.errors) if (known.has(code)) byCode.set(code, errorWith(data));
  return (error) => (isObject(error) ? byCode.get(error.code) : undefined) ?? plain;
}

function unknownMessage({ of, method, sender }: NamedPart, { version }: Revision): ShapeFault {
  const message = of === "notification" ? "a notification" : "a request";
  return {
    pointer: "",
    expected: `${message} that the ${sender} may send in ${version}`,
    received: describeValue(method),
  };
}
