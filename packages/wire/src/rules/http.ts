import { describeValue, type Revision } from "@parlance/mcp/protocol";
import { asksNothing, headerOf, isTaken } from "../conversation/exchange.js";
import type { HttpExchange } from "../conversation/message.js";
import { byEra, isStateless, onAllMessages, type PageOf } from "./citations.js";
import { header, nothing } from "./corrections/edits.js";
import { notJson } from "./framing.js";
import { errorCode } from "./json-rpc.js";
import type { Clause, Rule } from "./rule.js";

/** The page of the transport in the stateless era. */
export const httpPage = "basic/transports/streamable-http";
/** The section on POSTing a message, in both eras. */
export const onSending: PageOf = byEra(
  "basic/transports#sending-messages-to-the-server",
  `${httpPage}#sending-messages`,
);

/** The media types of bodies. */
export const json = "application/json";
export const eventStream = "text/event-stream";

const allMessages = "All messages between MCP clients and servers MUST follow the JSON-RPC 2.0 specification.";

/** The sentence on the body of a POST. */
function oneBody({ facts }: Revision): string {
  if (facts.httpBinding === "stateless")
    return "The body of the HTTP POST MUST be a single JSON-RPC request or notification.";
  return facts.batches
    ? "The body of the POST request MUST be one of the following: A single JSON-RPC request, notification, or response"
    : "The body of the POST request MUST be a single JSON-RPC request, notification, or response.";
}

const accepted = byEra(
  "If the server accepts the input, the server MUST return HTTP status code 202 Accepted with no body.",
  "If the server accepts it, the server MUST return HTTP status code `202 Accepted` with no body.",
);

/** The rules on the messages of Streamable HTTP, and on the HTTP responses of a server. */
export const httpRules: readonly Rule[] = [
  {
    id: "H-1",
    level: "must",
    party: "server",
    demands:
      "A server refuses requests from origins that it does not allow (the recording does not show which it allows)",
    applies: isStreamable,
    sentence: ({ facts }) =>
      facts.httpOriginRefusal === undefined
        ? "Servers MUST validate the `Origin` header on all incoming connections to prevent DNS rebinding attacks"
        : "If the `Origin` header is present and invalid, servers MUST respond with HTTP 403 Forbidden.",
    doubt: "the origins that a server accepts are not visible on the wire",
    page: byEra("basic/transports#security-warning", `${httpPage}#security-endpoint`),
    on: "exchange",
    *check(exchange) {
      const origin = headerOf(exchange.request, "origin");
      const host = headerOf(exchange.request, "host");
      if (origin === undefined || !isTaken(exchange) || isSameHost(origin, host)) return;
      yield { says: `a page of ${describeValue(origin)} is answered`, header: "origin" };
    },
  },
  {
    id: "H-3",
    level: "must",
    party: "client",
    demands: "A POST has a message in its body",
    applies: isStreamable,
    sentence: oneBody,
    page: onSending,
    on: "exchange",
    *check(exchange, { isWhole }) {
      if (exchange.request.method !== "POST" || !isMcp(exchange) || !isWhole) return;
      if (exchange.frames.every(({ from }) => from !== "client")) yield { says: "the body is empty" };
    },
  },
  {
    id: "H-4",
    level: "must",
    party: "server",
    demands: "A server accepts a notification or a response with 202",
    applies: isStreamable,
    sentence: accepted,
    page: onSending,
    correct: () => ({ is: "status", status: 202 }),
    on: "exchange",
    *check(exchange, session) {
      const { request, response } = exchange;
      if (request.method !== "POST" || !asksNothing(exchange) || session.http.isLegacy) return;
      if (isTaken(exchange) && response?.status !== 202)
        yield { says: `the status must be 202, got ${response?.status}` };
    },
  },
  {
    id: "H-18",
    level: "must",
    party: "server",
    demands: "A 202 for a notification or a response has no body",
    applies: isStreamable,
    sentence: accepted,
    page: onSending,
    correct: nothing,
    on: "body",
    *check({ frame: { from, entry }, exchange }, { http }) {
      if (exchange === undefined || from !== "server" || entry.len === 0) return;
      const { request, response } = exchange;
      if (response?.status !== 202 || request.method !== "POST") return;
      if (asksNothing(exchange) && !http.isLegacy) yield { says: `the body has ${entry.len} bytes` };
    },
  },
  {
    id: "H-10",
    level: "must",
    party: "server",
    demands: "A response to a request is application/json or text/event-stream, and to a GET text/event-stream",
    applies: isStreamable,
    sentence: byEra(
      "the server MUST either return `Content-Type: text/event-stream`, to initiate an SSE stream, or `Content-Type: application/json`, to return one JSON object.",
      "If the body is a JSON-RPC request, the server MUST return either `Content-Type: application/json` (a single JSON object) or `Content-Type: text/event-stream` (an SSE response stream).",
    ),
    page: onSending,
    correct: ({ subject: { frames } }) => {
      const sent = frames.filter(({ from }) => from === "server");
      if (sent.some(({ entry }) => entry.ch === "sse")) return header("content-type", eventStream);
      return sent.some(({ json: text }) => text.root?.kind === "object") ? header("content-type", json) : undefined;
    },
    on: "exchange",
    *check(exchange, session) {
      const { request, response, messages } = exchange;
      const isAsked =
        request.method === "POST" && messages.some(({ kind, from }) => kind === "req" && from === "client");
      const isListened = request.method === "GET" && takes(headerOf(request, "accept"), eventStream);
      if (response?.status !== 200 || session.http.isLegacy || !(isAsked || (isListened && isMcp(exchange)))) return;
      const expected = isAsked ? [json, eventStream] : [eventStream];
      const got = headerOf(response, "content-type");
      if (!expected.includes(mediaType(got)))
        yield {
          says: `Content-Type must be ${expected.join(" or ")}, got ${describeValue(got)}`,
          header: "content-type",
        };
    },
  },
  {
    id: "H-11",
    level: "must",
    party: "server",
    kinds: ["err"],
    from: "server",
    demands: "A protocol error has its HTTP status: 404 for an unknown method, 400 for an invalid request",
    applies: isStateless,
    sentence:
      "If the server does not implement the requested RPC method, it MUST respond with `404 Not Found` and a JSON-RPC error with code `-32601` (`Method not found`).",
    page: `${httpPage}#protocol-version-header`,
    correct: ({ subject }) => {
      const expected = statuses.get(errorCode(subject));
      return expected && { is: "status", status: expected.status };
    },
    on: "message",
    *check(message) {
      const { context, frame } = message;
      const status = context.exchange?.response?.status;
      if (status === undefined || frame.entry.ch !== "http") return;
      // An error without an id explains a refusal by HTTP itself, which can have many statuses.
      if (message.id === undefined || message.id === "null") return;
      const expected = statuses.get(errorCode(message));
      if (expected === undefined || expected.status === status) return;
      const { status: wanted, by } = expected;
      const says = `the status must be ${wanted}, got ${status}`;
      yield { says, pointer: "/error/code", ...(by !== undefined && { by }) };
    },
  },
  {
    id: "H-13",
    level: "must",
    party: "server",
    channels: ["sse"],
    demands: "A message event of an event stream is JSON, and ends with an empty line",
    sentence: allMessages,
    page: onAllMessages,
    on: "frame",
    *check({ frame: { entry }, json }) {
      const { event = "message" } = entry.ev ?? {};
      // An event without data is not a message: it gives the client an id for `Last-Event-ID`.
      if (event !== "message" || entry.len === 0) return;
      if (entry.cut === "ended")
        yield { says: `the stream ends after ${entry.len} bytes of data, before the event does` };
      // A connection may break in the middle of an event: clients ignore the incomplete event.
      else if (entry.cut === undefined) yield* notJson(json.fault);
    },
  },
  {
    id: "H-15",
    level: "must",
    party: "server",
    channels: ["http"],
    demands: "The body of an application/json response to a request is one JSON text",
    sentence: allMessages,
    page: onAllMessages,
    on: "frame",
    check({ frame: { entry, from, json: text }, exchange }) {
      const type = exchange?.response && headerOf(exchange.response, "content-type");
      const isJson = from === "server" && mediaType(type) === json;
      return isJson && entry.cut === undefined ? notJson(text.fault) : [];
    },
  },
  {
    id: "H-16",
    level: "must",
    party: "client",
    channels: ["http"],
    demands: "The body of a POST is one JSON text",
    sentence: (revision) => (isStreamable(revision) ? oneBody(revision) : allMessages),
    page: (revision) => (isStreamable(revision) ? onSending(revision) : onAllMessages(revision)),
    on: "frame",
    check: ({ frame: { from }, json }) => (from === "client" ? notJson(json.fault) : []),
  },
  {
    id: "H-14",
    level: "must",
    party: "server",
    kinds: ["res", "err"],
    from: "server",
    demands: "The stream of a GET has no responses, unless it resumes a broken stream",
    applies: ({ facts }) => facts.httpBinding === "session",
    sentence:
      "The server MUST NOT send a JSON-RPC response on the stream unless resuming a stream associated with a previous client request.",
    page: "basic/transports#listening-for-messages-from-the-server",
    on: "message",
    *check({ frame, context: { exchange } }, session) {
      if (frame.entry.ch !== "sse" || session.http.isLegacy) return;
      if (exchange?.request.method === "GET" && headerOf(exchange.request, "last-event-id") === undefined)
        yield { says: "it is a response, on a stream that does not belong to its request" };
    },
  },
];

interface ExpectedStatus {
  readonly status: number;
  /** The clause, if it is not that of H-11. */
  readonly by?: Clause;
}

/** No sentence gives these errors a status; servers send 400. */
const customary: ExpectedStatus = { status: 400, by: { level: "may", page: `${httpPage}#sending-messages` } };

/** The status 400, which a sentence of its own requires. */
function badRequest(sentence: string, page: string): ExpectedStatus {
  return { status: 400, by: { level: "must", sentence, page } };
}

/** The HTTP statuses of errors, by code. */
const statuses: ReadonlyMap<unknown, ExpectedStatus> = new Map([
  [-32_700, customary],
  [-32_600, customary],
  [-32_601, { status: 404 }],
  [
    -32_020,
    badRequest(
      "When rejecting a request due to header validation failure, servers MUST return HTTP status `400 Bad Request`",
      `${httpPage}#server-validation`,
    ),
  ],
  [-32_021, badRequest("On HTTP, the response status MUST be `400 Bad Request`.", "basic#meta")],
  [
    -32_022,
    badRequest(
      "it MUST respond with `400 Bad Request` and an `UnsupportedProtocolVersionError` listing its supported versions.",
      `${httpPage}#protocol-version-header`,
    ),
  ],
]);

function isSameHost(origin: string, host: string | undefined): boolean {
  return host !== undefined && origin.replace(/^https?:\/\//, "") === host;
}

/** Whether a revision has Streamable HTTP. */
export function isStreamable({ facts }: Revision): boolean {
  return facts.httpBinding !== "http+sse";
}

/** Whether an exchange belongs to MCP: a proxy also sees metadata, tokens and pages. */
export function isMcp({ request, messages, isAddressed }: HttpExchange): boolean {
  const names = (request.headers ?? []).map(([name]) => name.toLowerCase());
  const acceptsStream = headerOf(request, "accept")?.includes(eventStream) ?? false;
  if (messages.length > 0) return true;
  return isAddressed && (acceptsStream || names.some((name) => name.startsWith("mcp-")));
}

/** The type that a header begins with, without its parameters. */
export function mediaType(value = ""): string {
  return (value.split(";")[0] ?? "").trim().toLowerCase();
}

/** Whether an `Accept` header allows a media type. */
export function takes(accept: string | undefined, type: string): boolean {
  const ranges = (accept ?? "").split(",").map(mediaType);
  return ranges.some((range) => range === type || range === "*/*" || range === `${type.split("/")[0]}/*`);
}
