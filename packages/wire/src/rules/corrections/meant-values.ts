// Results, errors, schemas and other values as their senders must have meant them, where a message and its conversation tell.

import { codes } from "@parlance/mcp/jsonrpc";
import { checkShape, isObject, type JsonObject, methods, pointerToken } from "@parlance/mcp/protocol";
import { changeableLists } from "../../conversation/capability-use.js";
import type { RecordedOperation, WireMessage } from "../../conversation/message.js";
import type { WireSession } from "../../conversation/session.js";
import { literalOf, nodeAt, valueAt } from "../../json/json-node.js";
import type { Correction, Faulty } from "../rule.js";
import { isJson, misspelt, onlyRequestTo, put, replaced, unusedNumber, without } from "./edits.js";

/** The members that hold the items of lists, by method. */
const itemsOf: ReadonlyMap<string, string> = new Map<string, string>([
  ...changeableLists.map(({ list, member }) => [list, member] as const),
  [methods.listResourceTemplates, "resourceTemplates"],
]);

/** The result that a value in its place was meant to be: an empty object, a list in its member, or text as content. */
export function meantResult({ subject, revision }: Faulty<WireMessage>): Correction | undefined {
  const { node, operation, frame } = subject;
  const { method, from: sender } = operation?.request ?? {};
  const written = nodeAt(node, "/result");
  if (method === undefined || sender === undefined || written === undefined) return undefined;
  const literal = literalOf(written, frame.bytes);
  const type = revision.era === "stateless" ? ',"resultType":"complete"' : "";
  const items = itemsOf.get(method);
  const value: unknown = subject.member("result");
  const text = typeof value === "string" ? value : literal;
  const proposals = [
    written.kind === "null" ? `{${type.slice(1)}}` : undefined,
    written.kind === "array" && items !== undefined ? `{"${items}":${literal}${type}}` : undefined,
    written.kind === "array" && method === methods.callTool ? `{"content":${literal}${type}}` : undefined,
    method === methods.callTool && written.kind !== "null"
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
  const { method, node, frame } = message;
  if (method === methods.ping) return { is: "nothing" };
  const asked = onlyRequestTo(message, session)?.request;
  if (asked?.id === undefined || !mayBeInput.has(method)) return undefined;
  const params = nodeAt(node, "/params");
  const request = `{"method":"${method}"${params === undefined ? "" : `,"params":${literalOf(params, frame.bytes)}`}}`;
  const result = `{"resultType":"input_required","inputRequests":{"input-1":${request}}}`;
  return replaced(node, "", `{"jsonrpc":"2.0","id":${asked.id},"result":${result}}`);
}

/** A part of a repeated request as the round before it has it. */
export function asBefore(
  { node, from }: WireMessage,
  pointer: string,
  { request, answer }: RecordedOperation,
  session: WireSession,
): Correction | undefined {
  if (pointer === "/id") return replaced(node, pointer, unusedNumber(from, session));
  if (pointer === "/params") {
    const state = answer && nodeAt(answer.node, "/result/requestState");
    return state && put(node, "/params/requestState", literalOf(state, answer.frame.bytes));
  }
  const before = nodeAt(request.node, pointer);
  if (before === undefined) return without(node, pointer);
  return put(node, pointer, literalOf(before, request.frame.bytes));
}

/** The last cursor that the server has given for a list, before a request for its next page. */
export function lastCursor({ method, frame }: WireMessage, { operations }: WireSession): string | undefined {
  const pages = operations.flatMap(({ request, answer }) =>
    request.method === method && answer !== undefined && answer.frame.n < frame.n ? [answer] : [],
  );
  const last = pages.at(-1);
  const cursor = last && nodeAt(last.node, "/result/nextCursor");
  return cursor?.kind === "string" ? literalOf(cursor, last?.frame.bytes ?? new Uint8Array(0)) : undefined;
}

/** The value of an argument that a header repeats; undefined if the argument is absent or not a scalar. */
export function argumentOf(params: JsonObject, path: readonly string[]): string | undefined {
  const value = valueAt(params.arguments, path.map((name) => `/${pointerToken(name)}`).join(""));
  if (typeof value === "string") return value;
  return typeof value === "boolean" || Number.isSafeInteger(value) ? String(value) : undefined;
}
