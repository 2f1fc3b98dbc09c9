// Results, errors, schemas and other values as their senders must have meant them, where a message and its conversation tell.

import { codes } from "@parlance/mcp/jsonrpc";
import { checkShape, isObject, type JsonObject, methods, pointerToken } from "@parlance/mcp/protocol";
import { changeableLists } from "../../conversation/capability-use.js";
import type { RecordedOperation, WireMessage } from "../../conversation/message.js";
import type { WireSession } from "../../conversation/session.js";
import { nodeAt, valueAt } from "../../json/json-node.js";
import { otherSide } from "../../recording/frame.js";
import type { Correction, Faulty } from "../rule.js";
import { isJson, literalAt, misspelt, put, replaced, unusedNumber, waitingRequests, without } from "./edits.js";

/** The members that hold the items of lists, by method. */
const itemsOf: ReadonlyMap<string, string> = new Map<string, string>([
  ...changeableLists.map(({ list, member }) => [list, member] as const),
  [methods.listResourceTemplates, "resourceTemplates"],
]);

/** The result that a value in its place was meant to be: an empty object, a list in its member, or text as content. */
export function meantResult({ subject, revision }: Faulty<WireMessage>): Correction | undefined {
  const { node, operation } = subject;
  const { method, from: sender } = operation?.request ?? {};
  const literal = literalAt(subject, "/result");
  if (method === undefined || sender === undefined || literal === undefined) return undefined;
  const type = revision.era === "stateless" ? ',"resultType":"complete"' : "";
  const items = itemsOf.get(method);
  const value: unknown = subject.member("result");
  const text = typeof value === "string" ? value : literal;
  const proposals = [
    value === null ? `{${type.slice(1)}}` : undefined,
    Array.isArray(value) && items !== undefined ? `{"${items}":${literal}${type}}` : undefined,
    Array.isArray(value) && method === methods.callTool ? `{"content":${literal}${type}}` : undefined,
    method === methods.callTool && value !== null
      ? `{"content":${JSON.stringify([{ type: "text", text }])}${type}}`
      : undefined,
  ];
  const fitting = proposals.find(
    (each) =>
      each !== undefined && checkShape(revision, { of: "result", method, sender }, JSON.parse(each)).length === 0,
  );
  return replaced(node, "/result", fitting);
}

/** The messages that JSON-RPC gives to its own codes. */
const standardMessages: ReadonlyMap<unknown, string> = new Map([
  [codes.parseError, "Parse error"],
  [codes.invalidRequest, "Invalid Request"],
  [codes.methodNotFound, "Method not found"],
  [codes.invalidParams, "Invalid params"],
  [codes.internalError, "Internal error"],
]);

/** The error that a value in its place was meant to be: a text as its message, and a code as a number. */
export function meantError({ subject, pointer }: Faulty<WireMessage>): Correction | undefined {
  const { node } = subject;
  const error = subject.member("error");
  if (typeof error === "string")
    return replaced(node, "/error", JSON.stringify({ code: codes.internalError, message: error }));
  if (!isObject(error)) return undefined;
  const { code, message } = error;
  if (pointer === "/error/code") {
    const isInteger = typeof code === "string" && /^-?\d{1,15}$/.test(code.trim());
    return put(node, pointer, isInteger ? code.trim() : String(codes.internalError));
  }
  const text = message === undefined || message === null ? standardMessages.get(code) : JSON.stringify(message);
  return text === undefined ? undefined : put(node, pointer, JSON.stringify(text));
}

/** The schema of a tool that was meant: under another spelling of its name, or with the type that it lacks. */
export function* meantInputSchemas({
  subject: { node },
  pointer,
}: Faulty<WireMessage>): Iterable<Correction | undefined> {
  if (pointer.endsWith("/type")) yield put(node, pointer, '"object"');
  else {
    yield misspelt(node, pointer);
    const written = nodeAt(node, pointer);
    if (written === undefined || written.kind === "null") yield put(node, pointer, '{"type":"object"}');
  }
}

/** The types of JSON Schema, by their names in programming languages. */
const typeNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    string: "str text",
    integer: "int int32 int64 long",
    number: "float double decimal",
    boolean: "bool",
    object: "dict map struct record",
    array: "list tuple vec",
    null: "none nil undefined",
  }).flatMap(([type, names]) => [type, ...names.split(" ")].map((name) => [name, type] as const)),
);

/** A type under its name in JSON Schema. */
export function* meantTypes({ subject, pointer }: Faulty<WireMessage>): Iterable<Correction | undefined> {
  for (const place of [pointer, `${pointer}/type`]) {
    const type = valueAt(subject.value, place);
    const meant = typeof type === "string" ? typeNames.get(type.toLowerCase()) : undefined;
    yield replaced(subject.node, place, meant && JSON.stringify(meant));
  }
}

/** The structured content that the first text block of a result holds as JSON. */
export function* structureInText({ subject: { node, result } }: Faulty<WireMessage>): Iterable<Correction | undefined> {
  const [block]: readonly unknown[] = Array.isArray(result?.content) ? result.content : [];
  const text = isObject(block) && typeof block.text === "string" ? block.text.trim() : "";
  if (text.startsWith("{") && isJson(text)) yield put(node, "/result/structuredContent", text);
}

const mayBeInput: ReadonlySet<string | undefined> = new Set([methods.elicit, methods.createMessage, methods.listRoots]);

/** A request of a server as it is in the stateless era: part of the result of the only request that waits. */
export function asInputRequest(message: WireMessage, session: WireSession): Correction | undefined {
  const { method, node, from } = message;
  if (method === methods.ping) return { is: "nothing" };
  const [asked, ...others] = waitingRequests(message, otherSide(from), session);
  const { id } = asked?.request ?? {};
  if (id === undefined || others.length > 0 || !mayBeInput.has(method)) return undefined;
  const params = literalAt(message, "/params");
  const request = `{"method":"${method}"${params === undefined ? "" : `,"params":${params}`}}`;
  const result = `{"resultType":"input_required","inputRequests":{"input-1":${request}}}`;
  return replaced(node, "", `{"jsonrpc":"2.0","id":${id},"result":${result}}`);
}

/** A part of a repeated request as the round before it has it. */
export function asBefore(
  { node, from }: WireMessage,
  pointer: string,
  { request, answer }: RecordedOperation,
  session: WireSession,
): Correction | undefined {
  if (pointer === "/id") return replaced(node, pointer, unusedNumber(from, session));
  if (pointer === "/params")
    return put(node, "/params/requestState", answer && literalAt(answer, "/result/requestState"));
  const before = literalAt(request, pointer);
  return before === undefined ? without(node, pointer) : put(node, pointer, before);
}

/** The last cursor that the server has given for a list, before a request for its next page. */
export function lastCursor({ method, frame }: WireMessage, { operations }: WireSession): string | undefined {
  const last = operations.findLast(
    ({ request, answer }) => request.method === method && answer !== undefined && answer.frame.n < frame.n,
  )?.answer;
  return typeof last?.result?.nextCursor === "string" ? literalAt(last, "/result/nextCursor") : undefined;
}

/** The value of an argument that a header repeats; undefined if the argument is absent or not a scalar. */
export function argumentOf(params: JsonObject, path: readonly string[]): string | undefined {
  const value = valueAt(params.arguments, path.map((name) => `/${pointerToken(name)}`).join(""));
  if (typeof value === "string") return value;
  return typeof value === "boolean" || Number.isSafeInteger(value) ? String(value) : undefined;
}
