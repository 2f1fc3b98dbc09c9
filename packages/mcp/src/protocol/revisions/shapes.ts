import { isObject } from "../../base/json.js";
import { type Checker, faultsOf, ShapeCompiler } from "../shapes/checker.js";
import { any, integer, object, optional, type Shape, string } from "../shapes/shape.js";
import { describeValue, type ShapeFault } from "../shapes/shape-fault.js";
import type { BySender, PartName, Revision } from "./revision.js";

interface NamedPart {
  /** The part of the message: params, result or notification params. */
  readonly of: PartName;
  /** The method that the part belongs to. */
  readonly method: string;
  /** The side that sends the request or notification; the result of a request comes from the other side. */
  readonly sender: keyof BySender<unknown>;
}

/** The part of a message that a value is; `error` is the error object of an error response to any request. */
export type MessagePart = NamedPart | { readonly of: "error" };

/**
 * The places, at most a hundred, where a part of a message of a published revision differs from its shape; empty if it is valid. Never
 * throws, for any JSON of any depth. Unknown members are not faults. For tests and tools; servers do not need it.
 *
 * @example
 * const part = { of: "params", method: "logging/setLevel", sender: "client" } as const;
 * checkShape(latestHandshake, part, { level: 5 }); // [{ pointer: "/level", expected: …, received: "5" }]
 */
export function checkShape(revision: Revision, part: MessagePart, value: unknown): readonly ShapeFault[] {
  const checkers = known.get(revision) ?? new Checkers(revision);
  known.set(revision, checkers);
  if (part.of === "error") return faultsOf(checkers.ofError(value), value).found;
  const checker = checkers.ofPart(part);
  if (checker !== undefined) return faultsOf(checker, value).found;
  const message = part.of === "notification" ? "a notification" : "a request";
  const expected = `${message} that the ${part.sender} may send in ${revision.version}`;
  return [{ pointer: "", expected, received: describeValue(part.method) }];
}

const known = new WeakMap<Revision, Checkers>();

/** The checkers of a revision, each compiled when the first message needs it: most conversations have few methods. */
class Checkers {
  readonly #revision: Revision;
  readonly #compiler: ShapeCompiler;
  /** By code, for the codes whose `data` the revision defines. */
  readonly #errors: ReadonlyMap<unknown, Shape>;
  readonly #compiled = new Map<Shape, Checker>();

  constructor(revision: Revision) {
    const { codes, shapes } = revision;
    const used = new Set<number>(Object.values(codes));
    this.#revision = revision;
    this.#compiler = new ShapeCompiler(shapes.types);
    this.#errors = new Map(
      [...shapes.errors].filter(([code]) => used.has(code)).map(([code, data]) => [code, errorWith(data)]),
    );
  }

  ofError(error: unknown): Checker {
    return this.#of((isObject(error) ? this.#errors.get(error.code) : undefined) ?? anyError);
  }

  /** @returns undefined for a message that its sender may not send */
  ofPart({ of, method, sender }: NamedPart): Checker | undefined {
    const { requests, inputRequests, notifications, shapes } = this.#revision;
    let shape: Shape | undefined;
    if (of === "notification") shape = notifications[sender].has(method) ? shapes.notifications.get(method) : undefined;
    else if (requests[sender].has(method) || (sender === "server" && inputRequests.has(method)))
      shape = shapes.requests.get(method)?.[of];
    return shape && this.#of(shape);
  }

  #of(shape: Shape): Checker {
    const compiled = this.#compiled.get(shape) ?? this.#compiler.compile(shape);
    this.#compiled.set(shape, compiled);
    return compiled;
  }
}

function errorWith(data: Shape): Shape {
  return object({ code: integer, message: string, data });
}

const anyError = errorWith(optional(any));
