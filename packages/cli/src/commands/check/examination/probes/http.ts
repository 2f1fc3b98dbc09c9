import { mcpHeaders, methods } from "@parlance/mcp/protocol";
import { byEra, type RawRequest } from "@parlance/wire";
import {
  describe,
  expectError,
  failed,
  type Probe,
  type ProbeOutcome,
  passed,
  type Subject,
  skipped,
} from "../probe.js";

const overHttp: NonNullable<Probe["applies"]> = (_, transport) => transport === "http";
const overStreamable: NonNullable<Probe["applies"]> = ({ facts }, transport) =>
  transport === "http" && facts.httpBinding !== "http+sse";
const onSending = byEra(
  "basic/transports#sending-messages-to-the-server",
  "basic/transports/streamable-http#sending-messages",
);

/** The probes of HTTP: validation of requests, and statuses. */
export const httpProbes: readonly Probe[] = [
  {
    id: "XH-1",
    level: "must",
    demands: "A request from a foreign origin is refused",
    sentence: ({ facts }) =>
      facts.httpOriginRefusal === undefined
        ? "Servers MUST validate the `Origin` header on all incoming connections to prevent DNS rebinding attacks"
        : "If the `Origin` header is present and invalid, servers MUST respond with HTTP 403 Forbidden.",
    page: byEra("basic/transports#security-warning", "basic/transports/streamable-http#security-endpoint"),
    applies: overHttp,
    async ask(subject) {
      const status = await statusOf(subject, { headers: { origin: "https://parlance-examination.invalid" } });
      const { httpOriginRefusal: wanted } = subject.revision.facts;
      if (wanted === undefined) return status >= 400 ? passed : failed(`the status is ${status}, expected a refusal`);
      return status === wanted ? passed : failed(`the status is ${status}, expected ${wanted}`);
    },
  },
  {
    id: "XH-2",
    level: "may",
    demands: "A body whose Content-Type is not JSON is refused",
    page: onSending,
    applies: overStreamable,
    ask: (subject) => refuses(subject, { headers: { "content-type": "text/plain" } }),
  },
  {
    id: "XH-3",
    level: "may",
    demands: "A request whose Accept lacks text/event-stream is refused",
    page: onSending,
    applies: overStreamable,
    ask: (subject) => refuses(subject, { headers: { accept: "text/html" } }),
  },
  {
    id: "XH-4",
    level: "must",
    demands: "A notification that is accepted is answered with 202 and no body",
    sentence: byEra(
      "If the server accepts the input, the server MUST return HTTP status code 202 Accepted with no body.",
      "If the server accepts it, the server MUST return HTTP status code `202 Accepted` with no body.",
    ),
    page: onSending,
    applies: overStreamable,
    async ask(subject) {
      const { http: { status = 0 } = {}, answer } = await subject.notify("notifications/parlance-no-such-thing");
      // A server may refuse an unknown version.
      if (status >= 400) return skipped(`the server does not accept it: the status is ${status}`);
      if (status !== 202) return failed(`the status is ${status}, expected 202`);
      return answer === undefined ? passed : failed(`the body holds ${describe(answer)}`);
    },
  },
  {
    id: "XH-5",
    level: "must",
    demands: "A request of a session that has ended is answered with 404",
    sentence: "after which it MUST respond to requests containing that session ID with HTTP 404 Not Found.",
    page: "basic/transports#session-management",
    applies: ({ facts }, transport) => transport === "http" && facts.httpBinding === "session",
    endsConversation: true,
    async ask(subject) {
      if (subject.client.sessionId === undefined) return skipped("the server keeps no sessions");
      const { http: { status: ended = 0 } = {} } = await subject.client.send("", undefined, { method: "DELETE" });
      if (ended < 200 || ended >= 300) return skipped(`clients cannot end sessions: the status is ${ended}`);
      const status = await statusOf(subject, {});
      return status === 404 ? passed : failed(`the status is ${status}, expected 404`);
    },
  },
  {
    id: "XH-6",
    level: "must",
    demands: "An invalid MCP-Protocol-Version is refused with 400",
    sentence:
      "If the server receives a request with an invalid or unsupported `MCP-Protocol-Version`, it MUST respond with `400 Bad Request`.",
    page: "basic/transports#protocol-version-header",
    applies: ({ facts }, transport) => transport === "http" && facts.httpVersionHeader === "after initialize",
    async ask(subject) {
      const status = await statusOf(subject, { headers: { "mcp-protocol-version": "yesterday" } });
      return status === 400 ? passed : failed(`the status is ${status}, expected 400`);
    },
  },
  {
    id: "XH-7",
    level: "must",
    demands: "A request whose headers differ from its body is refused",
    sentence:
      "Servers that process the request body MUST reject requests where the values specified in the headers do not match the corresponding values in the request body.",
    page: "basic/transports/streamable-http#server-validation",
    applies: ({ facts }, transport) => transport === "http" && facts.httpBinding === "stateless",
    async ask(subject) {
      const id = subject.nextId();
      const reply = await subject.ask(methods.discover, {}, id, { headers: { "mcp-method": methods.listTools } });
      const { headerMismatch = 0 } = subject.revision.codes;
      const found = expectError(reply, [headerMismatch]);
      if (found.is !== "passed") return found;
      const { status } = reply.http ?? {};
      return status === 400 ? passed : failed(`the status is ${status}, expected 400`);
    },
  },
  {
    id: "XH-8",
    level: "must",
    demands: "A GET is answered with an event stream, or with 405",
    sentence:
      "The server MUST either return `Content-Type: text/event-stream` in response to this HTTP GET, or else return HTTP 405 Method Not Allowed",
    page: "basic/transports#listening-for-messages-from-the-server",
    applies: ({ facts }, transport) => transport === "http" && facts.httpBinding === "session",
    async ask(subject) {
      const { http: { status = 0 } = {} } = await subject.client.send("", undefined, { method: "GET" });
      return status === 200 || status === 405 ? passed : failed(`the status is ${status}, expected 200 or 405`);
    },
  },
  {
    id: "XH-9",
    level: "may",
    demands:
      "A request of an unknown session is answered with 404: after a restart, clients open another one for no other status",
    sentence: "The server MAY terminate the session at any time",
    page: "basic/transports#session-management",
    applies: ({ facts }, transport) => transport === "http" && facts.httpBinding === "session",
    async ask(subject) {
      if (subject.client.sessionId === undefined) return skipped("the server keeps no sessions");
      const status = await statusOf(subject, { headers: { [mcpHeaders.session]: "parlance-no-such-session" } });
      return status === 404 ? passed : failed(`the status is ${status}, expected 404`);
    },
  },
];

async function refuses(subject: Subject, request: RawRequest): Promise<ProbeOutcome> {
  const status = await statusOf(subject, request);
  return status >= 400 && status < 500 ? passed : failed(`the status is ${status}, expected a refusal`);
}

/** The status for a request that is valid except for the given headers; 0 without an HTTP response. */
async function statusOf(subject: Subject, request: RawRequest): Promise<number> {
  const { http: { status = 0 } = {} } = await subject.askAnything(request);
  return status;
}
