import {
  decodeHeaderValue,
  describeValue,
  encodeHeaderValue,
  isMirrored,
  isObject,
  mcpHeaders,
  methods,
  namedBy,
  type Revision,
  readMirroredParams,
  revisionOf,
} from "@parlance/mcp/protocol";
import { headerOf } from "../conversation/exchange.js";
import type { HttpExchange, WireMessage } from "../conversation/message.js";
import { namedVersion, type WireSession } from "../conversation/session.js";
import type { HttpEntry } from "../recording/entry.js";
import { byEra, isStateless, ofJson } from "./citations.js";
import { header } from "./corrections/edits.js";
import { argumentOf } from "./corrections/meant-values.js";
import { eventStream, httpPage, isMcp, isStreamable, json, mediaType, onSending, takes } from "./http.js";
import type { Clause, Finding, Rule } from "./rule.js";

/** The rules on the headers of Streamable HTTP. */
export const httpHeaderRules: readonly Rule[] = [
  {
    id: "H-2",
    level: "must",
    party: "client",
    demands: "The Accept header of a POST has application/json and text/event-stream, and of a GET text/event-stream",
    applies: isStreamable,
    sentence: byEra(
      "The client MUST include an `Accept` header, listing both `application/json` and `text/event-stream` as supported content types.",
      "The client MUST include an `Accept` header listing both `application/json` and `text/event-stream` as supported content types.",
    ),
    page: onSending,
    correct: ({ subject: { request } }) =>
      header("accept", request.method === "POST" ? `${json}, ${eventStream}` : eventStream),
    on: "exchange",
    *check(exchange, session, revision) {
      const { method } = exchange.request;
      const isJudged = method === "POST" || (method === "GET" && !isStateless(revision));
      if (session.http.isLegacy || !isMcp(exchange) || !isJudged) return;
      const accept = headerOf(exchange.request, "accept");
      const missing = (method === "POST" ? [json, eventStream] : [eventStream]).filter((type) => !takes(accept, type));
      if (missing.length > 0)
        yield {
          says: `Accept does not list ${missing.join(" and ")}`,
          header: "accept",
          ...(method === "GET" && { by: listening }),
        };
    },
  },
  {
    id: "H-5",
    level: "must",
    party: "client",
    demands:
      "MCP-Protocol-Version names the revision in every request; in the handshake era in every request after initialize",
    applies: ({ facts }) => facts.httpVersionHeader !== "none",
    sentence: byEra(
      "If using HTTP, the client MUST include the `MCP-Protocol-Version: <protocol-version>` HTTP header on all subsequent requests to the MCP server",
      "Every POST request to the MCP endpoint MUST include an `MCP-Protocol-Version` header.",
    ),
    page: byEra("basic/transports#protocol-version-header", `${httpPage}#protocol-version-header`),
    correct: ({ session, revision }) => header(mcpHeaders.protocolVersion, (session.revision ?? revision).version),
    on: "exchange",
    *check(exchange, session, revision) {
      const { request } = exchange;
      if (!isMcp(exchange) || session.http.isLegacy || request.method === "OPTIONS") return;
      if (headerOf(request, mcpHeaders.protocolVersion) !== undefined || !needsVersion(exchange, session, revision))
        return;
      yield { says: "MCP-Protocol-Version is missing", header: mcpHeaders.protocolVersion };
    },
  },
  {
    id: "H-6",
    level: "must",
    party: "client",
    demands: "The headers for revision, method and name match the body of the request",
    applies: isStateless,
    sentence: "These headers are REQUIRED for compliance.",
    page: `${httpPage}#standard-request-headers`,
    correct: ({ subject: { messages }, header: name = "" }) => {
      const [message] = messages;
      const said = message && repeated(message).get(name);
      return header(name, typeof said === "string" ? encodeHeaderValue(said) : undefined);
    },
    on: "exchange",
    *check({ request, messages }) {
      const [message] = messages;
      if (message?.kind !== "req" || message.from !== "client") return;
      for (const [header, said] of repeated(message)) {
        const told = headerOf(request, header);
        if (header === mcpHeaders.protocolVersion && told === undefined) continue; // Another rule requires it.
        const isName = header === mcpHeaders.name && told !== undefined;
        yield* compare(header, isName ? decodeHeaderValue(told) : told, said);
      }
    },
  },
  {
    id: "H-7",
    level: "must",
    party: "client",
    demands: "An argument with x-mcp-header is also sent as that header",
    applies: isStateless,
    sentence: "conforming clients MUST mirror the designated parameter values into HTTP headers.",
    page: `${httpPage}#custom-headers-from-tool-parameters`,
    correct: ({ subject: { messages }, header: name, session: { tools } }) => {
      const [message] = messages;
      const annotated = readMirroredParams(tools.get(message?.names ?? "")?.definition.inputSchema);
      const param =
        "params" in annotated ? annotated.params.find((each) => each.header.toLowerCase() === name) : undefined;
      const value = param && message && argumentOf(message.params, param.path);
      return param && header(param.header, value === undefined ? undefined : encodeHeaderValue(value));
    },
    on: "exchange",
    *check({ request, messages }, { tools }) {
      const [message] = messages;
      if (message?.kind !== "req" || message.method !== methods.callTool) return;
      const mirrored = readMirroredParams(tools.get(String(message.params.name))?.definition.inputSchema);
      for (const param of "params" in mirrored ? mirrored.params : []) {
        const header = headerOf(request, param.header);
        if (isMirrored(param, message.params.arguments, header)) continue;
        const says = `${param.header} ${header === undefined ? "is missing" : "differs from the argument"}`;
        yield { says, header: param.header.toLowerCase() };
      }
    },
  },
  {
    id: "H-8",
    level: "must",
    party: "client",
    demands: "A client that got a session id sends it with every further request",
    applies: ({ facts }) => facts.httpBinding === "session",
    sentence:
      "clients using the Streamable HTTP transport MUST include it in the … header on all of their subsequent HTTP requests.",
    page: "basic/transports#session-management",
    correct: ({ session: { http } }) => header(mcpHeaders.session, http.id),
    on: "exchange",
    *check(exchange, { http: { id } }) {
      const { request, response, messages } = exchange;
      if (id === undefined || !isMcp(exchange) || messages.some(({ method }) => method === methods.initialize)) return;
      const named = headerOf(request, mcpHeaders.session);
      // A session that the server does not know is another fault, which the server reports.
      if (named !== undefined || response?.status === 404) return;
      yield { says: "Mcp-Session-Id is missing", header: mcpHeaders.session };
    },
  },
  {
    id: "H-17",
    level: "must",
    party: "server",
    demands: "A server responds with status 404 to requests of a session that it has ended",
    sentence:
      "The server MAY terminate the session at any time, after which it MUST respond to requests containing that session ID with HTTP 404 Not Found.",
    applies: ({ facts }) => facts.httpBinding === "session",
    page: "basic/transports#session-management",
    correct: () => ({ is: "status", status: 404 }),
    on: "exchange",
    *check({ request, response, messages }, { http: { ended } }) {
      const status = response?.status ?? 404;
      if (ended === undefined || request.n < ended.n || headerOf(request, mcpHeaders.session) === undefined) return;
      if (!isSent(request, messages) || isOtherwiseRefused(status)) return;
      const isDeleted = ended.by === "DELETE";
      const before = isDeleted ? "the session was deleted" : "it was";
      if (isDeleted || status >= 400)
        yield { says: `the status must be 404, got ${status}: ${before} in frame ${ended.n}` };
    },
  },
  {
    id: "H-19",
    level: "may",
    party: "server",
    demands:
      "A request of a session that the server no longer knows gets 404: with 400, clients do not open another one",
    sentence: "The server MAY terminate the session at any time",
    applies: ({ facts }) => facts.httpBinding === "session",
    page: "basic/transports#session-management",
    correct: () => ({ is: "status", status: 404 }),
    on: "body",
    *check({ frame: { from, json }, exchange }, { http: { id, ended } }) {
      if (from !== "server" || exchange?.response?.status !== 400 || ended !== undefined || id === undefined) return;
      const { request, messages } = exchange;
      // Some servers offer no stream, and say so with 400.
      if (request.method !== "POST" || !isSent(request, messages) || isOwnError(json.value)) return;
      if (headerOf(request, mcpHeaders.session) !== id) return;
      yield { says: "the session is refused with 400: if it has ended, the status must be 404" };
    },
  },
  {
    id: "H-9",
    level: "must",
    party: "server",
    demands: "A session id has only visible ASCII characters",
    applies: ({ facts }) => facts.httpBinding === "session",
    sentence: "The session ID MUST only contain visible ASCII characters (ranging from 0x21 to 0x7E).",
    page: "basic/transports#session-management",
    on: "exchange",
    *check({ response }) {
      const id = response && headerOf(response, mcpHeaders.session);
      if (id !== undefined && !/^[\x21-\x7e]+$/.test(id))
        yield { says: `Mcp-Session-Id is ${describeValue(id)}`, header: mcpHeaders.session };
    },
  },
  {
    id: "H-12",
    level: "may",
    party: "client",
    demands: "The Content-Type of a POST is application/json: most servers accept nothing else",
    applies: isStreamable,
    sentence: "The media type for JSON text is application/json.",
    page: ofJson("section-11"),
    correct: () => header("content-type", json),
    on: "exchange",
    *check(exchange) {
      const { request, messages } = exchange;
      const type = headerOf(request, "content-type");
      if (request.method !== "POST" || messages.length === 0 || mediaType(type) === json) return;
      yield { says: `Content-Type should be ${json}, got ${describeValue(type)}`, header: "content-type" };
    },
  },
];

const listening: Clause = {
  level: "must",
  sentence: "The client MUST include an `Accept` header, listing `text/event-stream` as a supported content type.",
  page: "basic/transports#listening-for-messages-from-the-server",
};
const sameValue: Clause = {
  level: "must",
  sentence:
    "Servers that process the request body MUST reject requests where the values specified in the headers do not match the corresponding values in the request body.",
  page: `${httpPage}#server-validation`,
};

/** The values of a request that its headers repeat, by header. */
function repeated(message: WireMessage): ReadonlyMap<string, unknown> {
  const member = namedBy.get(message.method ?? "");
  return new Map<string, unknown>([
    [mcpHeaders.protocolVersion, namedVersion(message)],
    [mcpHeaders.method, message.method],
    [mcpHeaders.name, member === undefined ? undefined : message.params[member]],
  ]);
}

function needsVersion({ messages }: HttpExchange, session: WireSession, { facts }: Revision): boolean {
  if (facts.httpVersionHeader === "all") return messages.some(({ kind }) => kind === "req");
  const isOpening = messages.some(({ method }) => method === methods.initialize);
  // Until the response to initialize, no version is negotiated.
  const isNegotiated = session.phase === "answered" || session.phase === "ready";
  // Without session ids, a request without a message may come before the negotiation.
  const isOfClient = messages.length > 0 || session.http.id !== undefined;
  return !isOpening && isNegotiated && session.isWhole && isOfClient;
}

/** Whether the server has no other reason to refuse a request with 400. */
function isSent(request: HttpEntry, messages: readonly WireMessage[]): boolean {
  const version = headerOf(request, mcpHeaders.protocolVersion);
  if (version !== undefined && revisionOf(version) === undefined) return false;
  return request.method === "GET" || (request.method === "POST" && messages.some(({ from }) => from === "client"));
}

/**
 * Whether a status can have another reason than the session: it is given before a server looks for the session, or by a failing
 * server.
 */
function isOtherwiseRefused(status: number): boolean {
  return status >= 500 || (status >= 300 && status < 400) || otherRefusals.has(status);
}

const otherRefusals: ReadonlySet<number> = new Set([401, 403, 404, 405, 406, 413, 415, 421, 429]);

/** The codes with which servers refuse sessions; none is of the specification. */
const sessionErrors: ReadonlySet<unknown> = new Set([-32_000, -32_001]);

/** Whether a body is an error that has another reason than the session. */
function isOwnError(body: unknown): boolean {
  const error = isObject(body) ? body.error : undefined;
  return isObject(error) && error.code !== undefined && !sessionErrors.has(error.code);
}

function* compare(header: string, told: string | undefined, said: unknown): Iterable<Finding> {
  if (typeof said !== "string" || told === said) return;
  const says =
    told === undefined
      ? `${header} is missing`
      : `${header} is ${describeValue(told)}, and the body has ${describeValue(said)}`;
  yield { says, header, ...(told !== undefined && { by: sameValue }) };
}
