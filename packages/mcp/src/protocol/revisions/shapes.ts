import { isObject } from "../../base/json.js";
import { faultsOf, ShapeCompiler } from "../shapes/checker.js";
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
  // Each shape is compiled when the first message needs it: most conversations have few methods.
  const compiler = compilers.get(revision) ?? new ShapeCompiler(revision.shapes.types);
  compilers.set(revision, compiler);
  if (part.of === "error") return faultsOf(compiler.compile(errorShape(revision, value)), value).found;
  const shape = partShape(revision, part);
  if (shape !== undefined) return faultsOf(compiler.compile(shape), value).found;
  const message = part.of === "notification" ? "a notification" : "a request";
  const expected = `${message} that the ${part.sender} may send in ${revision.version}`;
  return [{ pointer: "", expected, received: describeValue(part.method) }];
}

const compilers = new WeakMap<Revision, ShapeCompiler>();

/** The shape of an error object. The revision defines the `data` of some of its codes. */
function errorShape({ codes, shapes }: Revision, error: unknown): Shape {
  const code = isObject(error) ? Object.values(codes).find((each) => each === error.code) : undefined;
  const data = code === undefined ? undefined : shapes.errors.get(code);
  return object({ code: integer, message: string, data: data ?? optional(any) });
}

/** The shape of a part; undefined for a message that its sender may not send. */
function partShape(
  { requests, inputRequests, notifications, shapes }: Revision,
  { of, method, sender }: NamedPart,
): Shape | undefined {
  if (of === "notification") return notifications[sender].has(method) ? shapes.notifications.get(method) : undefined;
  const isSent = requests[sender].has(method) || (sender === "server" && inputRequests.has(method));
  return isSent ? shapes.requests.get(method)?.[of] : undefined;
}
