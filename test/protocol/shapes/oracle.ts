import type { Revision } from "@parlance/mcp/protocol";
import type { MessagePart } from "../../../packages/mcp/src/protocol/revisions/shapes.js";
import type { SchemaNode } from "./schema-node.js";
import { definitionsOf, problemsOf, refTo } from "./schemas.js";

// The published schema of a version for a part of a message. Definitions are named after what they are, so
// names lead from a method to its request, and from there to its result.

/** A part of a message that has a method. */
export type NamedPart = Exclude<MessagePart, { readonly of: "error" }>;

/** Every message of a revision, in all its parts. */
export function partsOf({ requests, inputRequests, notifications }: Revision): readonly NamedPart[] {
  return (["client", "server"] as const).flatMap((sender) => {
    const sent = new Set([...requests[sender], ...(sender === "server" ? inputRequests : [])]);
    return [
      ...[...sent].map((method): NamedPart => ({ of: "params", method, sender })),
      ...[...sent].map((method): NamedPart => ({ of: "result", method, sender })),
      ...[...notifications[sender]].map((method): NamedPart => ({ of: "notification", method, sender })),
    ];
  });
}

/** The schema of a part. */
export interface Expectation {
  readonly node: SchemaNode;
  readonly optional: boolean;
}

const expectations = new Map<string, Expectation>();

/** The verdict of a published schema on a part. It is found once: the search goes through all definitions. */
export function expectationOf(version: string, part: NamedPart): Expectation {
  const key = `${version} ${part.of} ${part.sender} ${part.method}`;
  const expectation = expectations.get(key) ?? findExpectation(version, part);
  expectations.set(key, expectation);
  return expectation;
}

function findExpectation(version: string, part: NamedPart): Expectation {
  const definitions = definitionsOf(version);
  const kind = part.of === "notification" ? "Notification" : "Request";
  const [name = "", message] = Object.entries(definitions).find(isMessage) ?? [];
  if (part.of === "result") return { node: resultOf(version, name.slice(0, -kind.length)), optional: false };
  const { params = {} } = message?.properties ?? {};
  const { params: ofAll = {} } = definitions[`JSONRPC${kind}`]?.properties ?? {};
  return { node: { allOf: [params, ofAll] }, optional: !message?.required?.includes("params") };

  function isMessage([title, { properties }]: readonly [string, SchemaNode]): boolean {
    return properties?.method?.const === part.method && title.endsWith(kind) && !/^(?:Client|Server)/.test(title);
  }
}

function resultOf(version: string, name: string): SchemaNode {
  const definitions = definitionsOf(version);
  const { result } = definitions[`${name}ResultResponse`]?.properties ?? {};
  if (result !== undefined) return result;
  const own = refTo(version, `${name}Result` in definitions ? `${name}Result` : "EmptyResult");
  // The schema does not say which results may be tasks instead; the specification does: basic/utilities/tasks
  const mayBeTask = "CreateTaskResult" in definitions && ["CallTool", "CreateMessage", "Elicit"].includes(name);
  return mayBeTask ? { anyOf: [own, refTo(version, "CreateTaskResult")] } : own;
}

/** The faults of a value, by the published schema. */
export function problemsIn(version: string, { node, optional }: Expectation, value: unknown): readonly string[] {
  if (value === undefined) return optional ? [] : ["there is nothing"];
  return problemsOf(version, node, value);
}
