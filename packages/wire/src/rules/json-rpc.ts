import { codes } from "@parlance/mcp/jsonrpc";
import { describeValue, isObject, isProtocolMethod, type Revision } from "@parlance/mcp/protocol";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import type { WireSession } from "../conversation/session.js";
import { nodeAt } from "../json/json-node.js";
import { otherSide, type Sender } from "../recording/frame.js";
import { byEra, inSchema, ofJsonRpc, onAllMessages, onMessages } from "./citations.js";
import { put, replaced, unusedNumber, without } from "./corrections/edits.js";
import { meantError, meantResult } from "./corrections/meant-values.js";
import type { Clause, Finding, MessageRule } from "./rule.js";

/** The members of an error response. */
const errorSentence = ({ facts }: Revision): string => {
  if (facts.httpBinding === "http+sse")
    return "When a rpc call encounters an error, the Response Object MUST contain the error member with a value that is a Object with the following members:";
  return facts.errorId === "required"
    ? "errors MUST include an error code and message at minimum."
    : "Error responses MUST include an `error` field with a `code` and `message`.";
};

/** The rules of JSON-RPC on each message, as MCP narrows them. */
export const jsonRpcRules: readonly MessageRule[] = [
  {
    id: "R-1",
    level: "must",
    party: "either",
    demands: 'A message is an object with jsonrpc "2.0" and exactly one of method, result and error',
    sentence: "All messages between MCP clients and servers MUST follow the JSON-RPC 2.0 specification.",
    page: onAllMessages,
    correct: ({ subject, pointer }) => {
      const { node } = subject;
      if (pointer === "/jsonrpc" && node.kind === "object") {
        const place = node.start + 1;
        const comma = node.members.length > 0 ? "," : "";
        return (
          replaced(node, pointer, '"2.0"') ?? { is: "text", start: place, end: place, text: `"jsonrpc":"2.0"${comma}` }
        );
      }
      // Of a result and an error, the one that is null was meant to be absent.
      const present = parts.filter((part) => subject.member(part) !== undefined);
      const empty = present.filter((part) => subject.member(part) === null);
      return present.length === 2 && empty.length === 1 ? without(node, `/${empty[0]}`) : undefined;
    },
    *check(message) {
      const { value } = message;
      if (message.kind === "none" && !isObject(value)) {
        // An array in the place of a message is an empty batch, which another rule reports.
        if (!Array.isArray(value) || message.pointer !== "")
          yield { says: `a message must be an object, got ${describeValue(value)}` };
        return;
      }
      const jsonrpc = message.member("jsonrpc");
      if (jsonrpc !== "2.0")
        yield { says: `jsonrpc must be "2.0", got ${describeValue(jsonrpc)}`, pointer: "/jsonrpc", by: exactVersion };
      yield* countParts(message);
    },
  },
  {
    id: "R-2",
    level: "must",
    party: "either",
    kinds: ["req", "ntf"],
    demands: "A request has an id, which is a string or an integer",
    sentence: "Requests MUST include a string or integer ID.",
    page: onMessages("requests"),
    correct: ({ subject, session }) => put(subject.node, "/id", unusedNumber(subject.from, session)),
    *check(message) {
      if (message.kind === "ntf" && isProtocolMethod(message.method ?? ""))
        yield { says: `${message.method} is a request: without an id it has no response`, pointer: "/id" };
      const id = message.member("id");
      // Another rule compares the id of a response with that of its request.
      if (message.kind !== "req" || id === undefined || id === null || typeof id === "string" || isInteger(id)) return;
      yield { says: `id must be a string or an integer, got ${describeValue(id)}`, pointer: "/id" };
    },
  },
  {
    id: "R-3",
    level: "must",
    party: "either",
    kinds: ["req"],
    demands: "The id of a request is not null",
    sentence: "Unlike base JSON-RPC, the ID MUST NOT be `null`.",
    page: onMessages("requests"),
    correct: ({ subject, session }) => put(subject.node, "/id", unusedNumber(subject.from, session)),
    *check(message) {
      if (message.id === "null")
        yield { says: "a request must have an id that can be answered, got null", pointer: "/id" };
    },
  },
  {
    id: "R-4",
    level: "must",
    party: "either",
    kinds: ["req"],
    demands: "A request id is not reused: within a session in the handshake era, later while its request is open",
    sentence: byEra(
      "The request ID MUST NOT have been previously used by the requestor within the same session.",
      "The request ID MUST NOT match the ID of any other request the sender has issued and not yet received a response for.",
    ),
    page: onMessages("requests"),
    correct: ({ subject, session }) => put(subject.node, "/id", unusedNumber(subject.from, session)),
    *check({ id, from, frame, context: { reuses }, revision }, session) {
      if (reuses === undefined || id === "null") return;
      const { request, answer } = reuses;
      const isOfHandshake = revision?.era === "handshake" && request.revision?.era === "handshake";
      const isElsewhere = request.frame.entry.req !== frame.entry.req;
      if (!isOfHandshake && (answer !== undefined || isElsewhere)) return;
      if (isElsewhere && !isOneSession(session, from)) return;
      const waits = isAwaited(reuses, session) ? ", which still waits for its answer" : "";
      yield { says: `the id ${id} is that of the request in frame ${request.frame.n}${waits}`, pointer: "/id" };
    },
  },
  {
    id: "R-6",
    level: "must",
    party: "either",
    kinds: ["res", "err"],
    demands: "A result is an object; an error is an object with an integer code and a string message",
    sentence: errorSentence,
    page: (revision) =>
      revision.facts.httpBinding === "http+sse" ? ofJsonRpc("error_object") : onMessages("responses")(revision),
    correct: (faulty) => (faulty.subject.kind === "res" ? meantResult(faulty) : meantError(faulty)),
    *check(message) {
      if (message.kind === "res" && message.result === undefined)
        yield {
          says: `result must be an object, got ${describeValue(message.member("result"))}`,
          pointer: "/result",
          by: resultObject,
        };
      if (message.member("error") !== undefined) yield* checkError(message);
    },
  },
  {
    id: "R-8",
    level: "must",
    party: "either",
    kinds: ["req"],
    demands: "A notification has no id",
    sentence: "Notifications MUST NOT include an ID.",
    page: onMessages("notifications"),
    correct: ({ subject: { node } }) => without(node, "/id"),
    *check({ method, id }) {
      if (method?.startsWith("notifications/"))
        yield { says: `a notification must have no id, got ${id}`, pointer: "/id" };
    },
  },
  {
    id: "R-9",
    level: "must",
    party: "either",
    kinds: ["req", "ntf"],
    demands: "Params are an object: MCP has no params by position",
    sentence: ({ facts }) =>
      facts.errorId === "required" ? "params?: { … [key: string]: unknown; }" : "params?: { [key: string]: any };",
    page: inSchema("jsonrpcrequest"),
    correct: ({ subject: { node } }) => {
      const params = nodeAt(node, "/params");
      const isEmpty = params?.kind === "null" || (params?.kind === "array" && params.elements.length === 0);
      return isEmpty ? without(node, "/params") : undefined;
    },
    *check(message) {
      const params = message.member("params");
      if (params !== undefined && !isObject(params))
        yield { says: `params must be an object, got ${describeValue(params)}`, pointer: "/params" };
    },
  },
  {
    id: "R-11",
    level: "must",
    party: "either",
    kinds: ["req", "ntf"],
    demands: "A method is a string",
    sentence: "method: string;",
    page: inSchema("jsonrpcrequest"),
    *check(message) {
      if (message.method === undefined)
        yield { says: `method must be a string, got ${describeValue(message.member("method"))}`, pointer: "/method" };
    },
  },
  {
    id: "R-12",
    level: "must",
    party: "either",
    kinds: ["req", "ntf"],
    demands: "Method names that begin with rpc. are reserved for JSON-RPC",
    sentence:
      "Method names that begin with the word rpc followed by a period character (U+002E or ASCII 46) are reserved for rpc-internal methods and extensions and MUST NOT be used for anything else.",
    page: ofJsonRpc("request_object"),
    correct: ({ subject: { node, method = "" } }) => {
      const meant = method.slice("rpc.".length);
      return isProtocolMethod(meant) ? replaced(node, "/method", JSON.stringify(meant)) : undefined;
    },
    *check({ method }) {
      if (method?.startsWith("rpc."))
        yield {
          says: `${describeValue(method)} is a reserved name: methods must not begin with rpc.`,
          pointer: "/method",
        };
    },
  },
  {
    id: "R-14",
    level: byEra("may", "should"),
    party: "either",
    kinds: ["err"],
    demands: "Codes from −32768 to −32100 have the meaning that JSON-RPC defines; most are reserved",
    sentence: byEra(
      "Any code within this range, but not defined explicitly below is reserved for future use.",
      "New error codes for purposes not defined by this specification SHOULD be allocated outside the JSON-RPC reserved range (`-32768` to `-32000`)",
    ),
    page: byEra(ofJsonRpc("error_object"), "basic#error-codes"),
    *check(message) {
      const code = errorCode(message);
      if (code === undefined || code < -32_768 || code > -32_100 || predefined.has(code)) return;
      yield { says: `the code ${code} is reserved by JSON-RPC, and has no meaning`, pointer: "/error/code" };
    },
  },
  {
    id: "R-15",
    level: "must",
    party: "either",
    kinds: ["err"],
    demands: "A parse error without an id answers what is not JSON",
    sentence: "It MUST be the same as the value of the id member in the Request Object.",
    page: ofJsonRpc("response_object"),
    *check(message, session) {
      const { from, frame, id } = message;
      if (errorCode(message) !== codes.parseError || (id !== undefined && id !== "null")) return;
      // Over HTTP, servers send it for every body that they refuse.
      if (frame.entry.req !== undefined || !session.isWhole || session.lastOther[otherSide(from)] > 0) return;
      yield { says: "every message so far was valid JSON", pointer: "/error/code" };
    },
  },
];

const exactVersion: Clause = {
  level: "must",
  sentence: 'A String specifying the version of the JSON-RPC protocol. MUST be exactly "2.0".',
  page: ofJsonRpc("request_object"),
};
const onePart: Clause = {
  level: "must",
  sentence: "Either the result member or error member MUST be included, but both members MUST NOT be included.",
  page: ofJsonRpc("response_object"),
};
const resultObject: Clause = {
  level: "must",
  sentence: "result: Result;",
  page: (revision) =>
    inSchema(revision.facts.errorId === "required" ? "jsonrpcresponse" : "jsonrpcresultresponse")(revision),
};
const integerCode: Clause = { level: "must", sentence: "Error codes MUST be integers.", page: onMessages("responses") };

/** Whether requests in several exchanges belong to one session, so that their ids must differ. */
function isOneSession({ http, isShared }: WireSession, from: Sender): boolean {
  if (http.id !== undefined || http.isLegacy) return true;
  // Without a session id, each exchange may have reached another process, which numbers its requests from the start.
  return from === "client" && !isShared;
}

/** Whether a response can still come, as far as the recording shows. */
export function isAwaited({ request, answer, cancel }: RecordedOperation, { http }: WireSession): boolean {
  // Over HTTP+SSE the response comes on the stream of the GET, after the exchange of the request has ended.
  const isOver = request.context.exchange?.end !== undefined && !http.isLegacy;
  return answer === undefined && cancel === undefined && !isOver;
}

const predefined: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602, -32_603]);

/** The code of an error; undefined if it is not an integer. */
export function errorCode(message: WireMessage): number | undefined {
  const error = message.member("error");
  const code = isObject(error) ? error.code : undefined;
  return typeof code === "number" && Number.isInteger(code) ? code : undefined;
}

/** Whether a value is an integer. `1e400` overflows a double but is still an integer; only fractions are rejected. */
function isInteger(value: unknown): boolean {
  return typeof value === "number" && (Number.isInteger(value) || !Number.isFinite(value));
}

const parts = ["method", "result", "error"] as const;

function* countParts(message: WireMessage): Iterable<Finding> {
  const { value } = message;
  const present = parts.filter((part) => isObject(value) && Object.hasOwn(value, part));
  if (present.length > 1) yield { says: `it has ${present.join(" and ")}, of which a message has one`, by: onePart };
  if (present.length === 0) yield { says: "it has neither a method nor a result nor an error", by: onePart };
}

function* checkError(message: WireMessage): Iterable<Finding> {
  const error = message.member("error");
  if (!isObject(error)) {
    yield { says: `error must be an object with code and message, got ${describeValue(error)}`, pointer: "/error" };
    return;
  }
  const { code, message: text } = error;
  if (typeof code !== "number" || !Number.isInteger(code))
    yield { says: `code must be an integer, got ${describeValue(code)}`, pointer: "/error/code", by: integerCode };
  if (typeof text !== "string")
    yield { says: `message must be a string, got ${describeValue(text)}`, pointer: "/error/message" };
}
