import type { Said } from "../../recording/recorded.js";
import { exchanged, type HttpExchange, headersOf, listExchange, openingExchanges } from "../http-talk.js";
import type { RuleCase } from "../rule-case.js";
import { failed, type Talk, told } from "../talk.js";

const isStreamable = ({ version }: Talk): boolean => version >= "2025-03-26";
const namesVersion = ({ version }: Talk): boolean => version >= "2025-06-18";
const hasSessions = (talk: Talk): boolean => isStreamable(talk) && !talk.isStateless;
const ofStateless = (talk: Talk): boolean => talk.isStateless;

const cancelled = told("notifications/cancelled", { requestId: 99 });
const mirroring = {
  name: "add",
  inputSchema: { type: "object", properties: { a: { type: "integer", "x-mcp-header": "A" } } },
};

/** Transcripts for the rules of this family. */
export const httpCases: readonly RuleCase[] = [
  {
    rule: "H-1",
    where: isStreamable,
    breaks: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { headers: { origin: "https://evil.example" } })),
    found: { back: 2, party: "server", header: "origin" },
    legal: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { headers: { origin: "http://127.0.0.1:3000" } })),
  },
  {
    rule: "H-2",
    where: isStreamable,
    breaks: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { headers: { accept: "application/json" } })),
    found: { back: 4, party: "client", header: "accept", says: "Accept does not list text/event-stream" },
    legal: (talk) =>
      exchanged(
        ...openingExchanges(talk),
        listExchange(talk, 1, { headers: { accept: "text/event-stream;q=0.5,application/json" } }),
      ),
  },
  {
    rule: "H-2",
    why: "for a GET",
    where: hasSessions,
    breaks: (talk) => exchanged(...openingExchanges(talk), listening(talk, "application/json")),
    found: { back: 2, party: "client", header: "accept", says: "Accept does not list text/event-stream" },
    legal: (talk) => exchanged(...openingExchanges(talk), listening(talk, "text/event-stream")),
  },
  {
    rule: "H-3",
    where: isStreamable,
    breaks: (talk) => exchanged(...openingExchanges(talk), { headers: headersOf(talk), status: 400 }),
    found: { back: 2, party: "client", says: "the body is empty" },
    legal: (talk) => exchanged(...openingExchanges(talk), listExchange(talk, 1)),
  },
  {
    rule: "H-4",
    where: isStreamable,
    breaks: (talk) => exchanged(...openingExchanges(talk), { headers: headersOf(talk), sent: cancelled, status: 200 }),
    found: { back: 1, party: "server", says: "the status must be 202, got 200" },
    legal: (talk) =>
      exchanged(
        ...openingExchanges(talk),
        { headers: headersOf(talk), sent: cancelled, status: 202 },
        { headers: headersOf(talk), sent: cancelled, status: 400 },
      ),
  },
  ...['{"accepted":true}', "Accepted", " "].map(
    (body): RuleCase => ({
      rule: "H-18",
      why: `for ${body}`,
      where: isStreamable,
      breaks: (talk) => exchanged(...openingExchanges(talk), acceptedWith(talk, body)),
      found: { back: 1, party: "server", text: body, says: `the body has ${body.length} bytes` },
      legal: (talk) => exchanged(...openingExchanges(talk), acceptedWith(talk, "")),
    }),
  ),
  {
    rule: "H-5",
    where: namesVersion,
    breaks: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { headers: { "mcp-protocol-version": undefined } })),
    found: { back: 4, party: "client", header: "mcp-protocol-version" },
    legal: (talk) => exchanged(...openingExchanges(talk), listExchange(talk, 1)),
  },
  {
    rule: "H-6",
    why: "without a header",
    where: ofStateless,
    breaks: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { headers: { "mcp-method": undefined } })),
    found: { back: 4, party: "client", header: "mcp-method", says: "mcp-method is missing" },
    legal: (talk) => exchanged(...openingExchanges(talk), listExchange(talk, 1)),
  },
  {
    rule: "H-6",
    why: "with another name",
    where: ofStateless,
    breaks: (talk) => {
      const sent = talk.call(1, "add");
      const headers = { ...headersOf(talk, sent), "mcp-name": "subtract" };
      return exchanged(...openingExchanges(talk), { sent, headers, replies: [talk.called(1)] });
    },
    found: { back: 4, party: "client", header: "mcp-name", says: 'mcp-name is "subtract", and the body has "add"' },
    legal: (talk) => {
      const sent = talk.call(1, "Größe");
      const headers = { ...headersOf(talk, sent), "mcp-name": "=?base64?R3LDtsOfZQ==?=" };
      return exchanged(...openingExchanges(talk), { sent, headers, replies: [talk.called(1)] });
    },
  },
  {
    rule: "H-7",
    where: ofStateless,
    breaks: (talk) => calling(talk, { "mcp-param-a": "3" }),
    found: { back: 4, party: "client", header: "mcp-param-a", says: "Mcp-Param-A differs from the argument" },
    legal: (talk) => calling(talk, { "mcp-param-a": "2.0" }),
  },
  {
    rule: "H-8",
    where: hasSessions,
    breaks: (talk) => exchanged(...openingExchanges(talk, { "mcp-session-id": "abc" }), listExchange(talk, 1)),
    found: { back: 4, party: "client", header: "mcp-session-id", says: "Mcp-Session-Id is missing" },
    legal: (talk) =>
      exchanged(
        ...openingExchanges(talk, { "mcp-session-id": "abc" }),
        listExchange(talk, 1, { headers: { "mcp-session-id": "abc" } }),
      ),
  },
  {
    rule: "H-9",
    where: hasSessions,
    breaks: (talk) => exchanged(...openingExchanges(talk, { "mcp-session-id": "a b" })),
    found: { back: 6, party: "server", header: "mcp-session-id" },
    legal: (talk) => exchanged(...openingExchanges(talk, { "mcp-session-id": "a-b" })),
  },
  {
    rule: "H-10",
    where: isStreamable,
    breaks: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { replyHeaders: { "content-type": "text/plain" } })),
    found: { back: 2, party: "server", header: "content-type" },
    legal: (talk) =>
      exchanged(
        ...openingExchanges(talk),
        listExchange(talk, 1, { replyHeaders: { "content-type": "application/json; charset=utf-8" } }),
      ),
  },
  {
    rule: "H-11",
    where: ofStateless,
    breaks: (talk) => exchanged(...openingExchanges(talk), unknownMethod(talk, 200)),
    found: {
      back: 1,
      party: "server",
      pointer: "/error/code",
      text: "-32601",
      says: "the status must be 404, got 200",
    },
    legal: (talk) => exchanged(...openingExchanges(talk), unknownMethod(talk, 404)),
  },
  ...([-32_020, -32_021, -32_022, -32_700] as const).map(
    (code): RuleCase => ({
      rule: "H-11",
      why: `for ${code}`,
      where: ofStateless,
      breaks: (talk) => exchanged(...openingExchanges(talk), refusedList(talk, code, 200)),
      found: { back: 1, party: "server", pointer: "/error/code", says: "the status must be 400, got 200" },
      legal: (talk) => exchanged(...openingExchanges(talk), refusedList(talk, code, 400)),
    }),
  ),
  {
    rule: "H-12",
    where: isStreamable,
    breaks: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { headers: { "content-type": "text/plain" } })),
    found: { back: 4, party: "client", header: "content-type" },
    legal: (talk) =>
      exchanged(
        ...openingExchanges(talk),
        listExchange(talk, 1, { headers: { "content-type": "application/json; charset=utf-8" } }),
      ),
  },
  {
    rule: "H-13",
    breaks: (talk) => streamed(talk, "← hello", talk.listed(1)),
    found: { back: 2, party: "server", text: "hello" },
    legal: (talk) => streamed(talk, { raw: "", ev: { id: "1" } }, talk.listed(1)),
  },
  {
    rule: "H-13",
    why: "for half a message",
    breaks: (talk) => streamed(talk, '← {"jsonrpc":"2.0","i'),
    found: { back: 1, party: "server", text: '{"jsonrpc":"2.0","i', says: /^it is not JSON: / },
    legal: (talk) => streamed(talk, { raw: "", ev: { event: "ping" } }, talk.listed(1)),
  },
  {
    rule: "H-13",
    why: "for two messages in one event",
    breaks: (talk) => streamed(talk, `${talk.listed(1)}${talk.listed(1).slice(2)}`),
    found: { back: 1, party: "server", says: /^it is not JSON: expected nothing after the value/ },
    legal: (talk) => streamed(talk, talk.listed(1)),
  },
  {
    rule: "H-13",
    why: "for an event that has no end",
    breaks: (talk) => streamed(talk, { raw: talk.listed(1).slice(2), cut: "ended" }),
    found: { back: 1, party: "server", says: /^the stream ends after \d+ bytes of data, before the event does$/ },
    legal: (talk) =>
      exchanged(
        ...openingExchanges(talk),
        listExchange(talk, 1, {
          isStream: true,
          replies: [{ raw: '{"jsonrpc":"2.0","i', cut: "aborted" }],
          aborted: "aborted",
        }),
      ),
  },
  {
    rule: "H-15",
    why: "for half a message",
    breaks: (talk) => replied(talk, '← {"jsonrpc":"2.0","i'),
    found: { back: 1, party: "server", text: '{"jsonrpc":"2.0","i', says: /^it is not JSON: / },
    legal: (talk) =>
      exchanged(
        ...openingExchanges(talk),
        listExchange(talk, 1, { replies: [{ raw: '{"jsonrpc":"2.0","i', cut: "aborted" }], aborted: "aborted" }),
      ),
  },
  {
    rule: "H-15",
    why: "for two messages",
    breaks: (talk) => replied(talk, `${talk.listed(1)}\n${talk.listed(1).slice(2)}`),
    found: { back: 1, party: "server", says: /^it is not JSON: expected nothing after the value/ },
    legal: (talk) => replied(talk, talk.listed(1)),
  },
  {
    rule: "H-15",
    why: "for what stands around a message",
    breaks: (talk) => replied(talk, `← [debug] got a request\n${talk.listed(1).slice(2)}`),
    found: { back: 1, party: "server", says: /^it is not JSON: / },
    legal: (talk) => replied(talk, `← \n ${talk.listed(1).slice(2)}\r\n`),
  },
  {
    rule: "H-16",
    breaks: (talk) => exchanged(...openingExchanges(talk), { headers: headersOf(talk), sent: "→ {", status: 400 }),
    found: { back: 2, party: "client", text: "{", says: /^it is not JSON: / },
    legal: (talk) => exchanged(...openingExchanges(talk), listExchange(talk, 1)),
  },
  {
    rule: "H-17",
    why: "for one that was deleted",
    where: hasSessions,
    breaks: (talk) =>
      exchanged(...sessionExchanges(talk), deleting(talk), listExchange(talk, 1, { ...inSession, ...refused(400) })),
    found: {
      back: 1,
      party: "server",
      says: /^the status must be 404, got 400: the session was deleted in frame \d+$/,
    },
    legal: (talk) =>
      exchanged(
        ...sessionExchanges(talk),
        deleting(talk),
        listExchange(talk, 1, { ...inSession, ...refused(404) }),
        listExchange(talk, 1, { ...inSession, ...refused(401), replyHeaders: { "www-authenticate": "Bearer" } }),
        { ...deleting(talk), status: 404 },
      ),
  },
  {
    rule: "H-17",
    why: "for one that was not found before",
    where: hasSessions,
    breaks: (talk) =>
      exchanged(
        ...sessionExchanges(talk),
        listExchange(talk, 1, { ...inSession, ...refused(404) }),
        listExchange(talk, 2, { ...inSession, ...refused(400) }),
      ),
    found: { back: 1, party: "server", says: /^the status must be 404, got 400: it was in frame \d+$/ },
    legal: (talk) =>
      exchanged(...sessionExchanges(talk), { ...deleting(talk), status: 405 }, listExchange(talk, 1, inSession)),
  },
  {
    rule: "H-19",
    where: hasSessions,
    breaks: (talk) =>
      exchanged(
        ...sessionExchanges(talk),
        listExchange(talk, 1, { ...inSession, status: 400, replies: [failed(null, -32_000)] }),
      ),
    found: {
      back: 1,
      party: "server",
      says: /^the session is refused with 400: if it has ended, the status must be 404$/,
    },
    legal: (talk) =>
      exchanged(
        ...sessionExchanges(talk),
        listExchange(talk, 1, { ...inSession, ...refused(401), replyHeaders: { "www-authenticate": "Bearer" } }),
        listExchange(talk, 2, { ...inSession, status: 400, replies: [failed(2, -32_602)] }),
        {
          method: "GET",
          headers: { ...headersOf(talk), ...inSession.headers, accept: "text/event-stream" },
          status: 400,
          replies: ["← Bad Request"],
        },
        listExchange(talk, 3, inSession),
      ),
  },
  {
    rule: "H-14",
    where: hasSessions,
    breaks: (talk) =>
      exchanged(...openingExchanges(talk), listExchange(talk, 1, { isStream: true, replies: [] }), {
        method: "GET",
        headers: headersOf(talk),
        isStream: true,
        replies: [talk.listed(1)],
      }),
    found: { back: 1, party: "server", pointer: "" },
    legal: (talk) =>
      exchanged(
        ...openingExchanges(talk),
        listExchange(talk, 1, { isStream: true, replies: [{ raw: "", ev: { id: "1" } }] }),
        {
          method: "GET",
          headers: { ...headersOf(talk), "last-event-id": "1" },
          isStream: true,
          replies: [talk.listed(1)],
        },
      ),
  },
];

const inSession = { headers: { "mcp-session-id": "abc" } };

/** HTTP refuses a request, and says no more. */
function refused(status: number): Pick<HttpExchange, "status" | "replies"> {
  return { status, replies: [] };
}

function sessionExchanges(talk: Talk): readonly HttpExchange[] {
  return openingExchanges(talk, { "mcp-session-id": "abc" });
}

function deleting(talk: Talk): HttpExchange {
  return { method: "DELETE", headers: { ...headersOf(talk), ...inSession.headers } };
}

/** A list of tools whose response is a stream of these events. */
function streamed(talk: Talk, ...replies: NonNullable<HttpExchange["replies"]>): ReturnType<typeof exchanged> {
  return exchanged(...openingExchanges(talk), listExchange(talk, 1, { isStream: true, replies }));
}

/** A list of tools whose response has this body. */
function replied(talk: Talk, body: Said): ReturnType<typeof exchanged> {
  return exchanged(...openingExchanges(talk), listExchange(talk, 1, { replies: [body] }));
}

/** A call of a tool that wants an argument in a header. */
function calling(talk: Talk, headers: Readonly<Record<string, string>>): ReturnType<typeof exchanged> {
  const sent = talk.request(2, "tools/call", { name: "add", arguments: { a: 2 } });
  return exchanged(...openingExchanges(talk), listExchange(talk, 1, { replies: [talk.listed(1, [mirroring])] }), {
    sent,
    headers: { ...headersOf(talk, sent), ...headers },
    replies: [talk.called(2)],
  });
}

/** A notification that is accepted, with a body. */
function acceptedWith(talk: Talk, body: string): HttpExchange {
  return { headers: headersOf(talk), sent: cancelled, status: 202, replies: [`← ${body}`] };
}

/** A GET that names a revision, or where that has no header a session: it is one of the protocol. */
function listening(talk: Talk, accept: string): HttpExchange {
  return { method: "GET", headers: { ...headersOf(talk), accept, "mcp-session-id": "s" }, isStream: true };
}

function refusedList(talk: Talk, code: number, status: number): HttpExchange {
  const data = code === -32_021 ? { requiredCapabilities: {} } : { supported: [talk.version], requested: "1" };
  return listExchange(talk, 1, { status, replies: [failed(1, code, data)] });
}

function unknownMethod(talk: Talk, status: number): HttpExchange {
  const sent = talk.request(1, "acme/do");
  return { sent, headers: headersOf(talk, sent), status, replies: [failed(1, -32_601)] };
}
