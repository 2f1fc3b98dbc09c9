import { versions } from "@parlance/mcp";
import { describeVerdict, type Entry } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { header } from "../recording/recorded.js";
import {
  exchanged,
  type HttpExchange,
  headersOf,
  listExchange,
  numbered,
  openingExchanges,
  overlapping,
} from "./http-talk.js";
import { readAll } from "./rule-case.js";
import { answered, asked, failed, type Talk, talkOf, told } from "./talk.js";

// Exchanges that only look like violations over HTTP: each was once reported of a correct program.

const form = { type: "object", properties: {} };
const streamable = versions.filter((version) => version >= "2025-03-26").map(talkOf);
const handshake = streamable.filter(({ isStateless }) => !isStateless);
const each = (talks: readonly Talk[]): readonly (readonly [string, Talk])[] =>
  talks.map((talk) => [talk.version, talk] as const);

/** All that is said of exchanges, notes included, and of what waits. */
function said(...exchanges: readonly HttpExchange[]): readonly string[] {
  return saidOf(exchanged(...exchanges));
}

function saidOf(entries: readonly Entry[]): readonly string[] {
  const conversation = readAll(entries);
  return [...conversation.verdicts.map(describeVerdict), ...conversation.pending().map(({ reason }) => reason)];
}

// Without an id, and with a code that tells its client something, nothing would be said of it at all.
const asIs = /breaks (?:R-13|N-4) /;
const refusal = '← {"jsonrpc":"2.0","error":{"code":-32000,"message":"Method not allowed."},"id":null}' as const;

describe.each(each(streamable))("in %s", (_version, talk) => {
  test("a GET is answered with 405 and an error in the words of JSON-RPC", () => {
    const listening: HttpExchange = { method: "GET", headers: headersOf(talk), status: 405, replies: [refusal] };
    const words = said(...openingExchanges(talk), listening, listExchange(talk, 1));
    expect(words.filter((each) => !asIs.test(each))).toEqual([]);
  });

  test.each([
    ["what OAuth says", '{"error":"invalid_token","error_description":"Missing Authorization header"}'],
    ["half of a JSON text", '{"error":'],
    ["a page", "<html>No</html>"],
    ["a list", '["no"]'],
    ["nothing", ""],
  ])("a 401 has %s in its body, and the request is sent again with a token", (_what, body) => {
    const replyHeaders = { "www-authenticate": "Bearer" };
    const refused = { status: 401, replies: [`← ${body}` as const], replyHeaders };
    const [first = {}, ...rest] = openingExchanges(talk);
    expect(
      said({ ...first, ...refused }, first, ...rest, { ...listExchange(talk, 1), ...refused }, listExchange(talk, 1)),
    ).toEqual([]);
  });

  test("the body of a response that answers no request is no message", () => {
    expect(
      said(...openingExchanges(talk), {
        method: "DELETE",
        headers: headersOf(talk, talk.list(1)),
        replies: ['← {"deleted":true}'],
      }),
    ).toEqual([]);
  });

  test("metadata of OAuth are no part of the protocol", () => {
    const url = "/.well-known/oauth-protected-resource/mcp";
    const headers = { "mcp-protocol-version": talk.version, accept: "*/*", "content-type": undefined };
    expect(
      said(...openingExchanges(talk), {
        method: "GET",
        url,
        headers,
        replies: ['← {"resource":"http://localhost/mcp","authorization_servers":["https://login.example"]}'],
      }),
    ).toEqual([]);
  });

  test("what goes to another path than that of the server is no part of the protocol", () => {
    const recording: Entry = { ...header, mode: "proxy", server: { url: "http://localhost:3000/mcp" } };
    const headers = { "mcp-protocol-version": talk.version, accept: "text/event-stream" };
    const changes: HttpExchange = {
      method: "GET",
      url: "/changes",
      headers,
      replyHeaders: { "content-type": "text/plain" },
    };
    expect(saidOf([recording, ...exchanged(...openingExchanges(talk), changes, listExchange(talk, 1))])).toEqual([]);
  });

  test("a request that HTTP redirects is sent again", () => {
    expect(
      said(...openingExchanges(talk), listExchange(talk, 1, { status: 307, replies: [] }), listExchange(talk, 1)),
    ).toEqual([]);
  });
});

test.each([
  ["-32601 and 200", { replies: [failed(0, -32_601)] }],
  ["-32601 in a stream", { isStream: true, replies: [failed(0, -32_601)] }],
  ["-32000 and 400", { status: 400, replies: [refusal] }],
  ["-32002 and 400", { status: 400, replies: [failed(0, -32_002)] }],
])("a server of the handshake era answers the question which era it knows with %s", (_what, answer) => {
  const [discover = {}] = openingExchanges(talkOf("2026-07-28"));
  const talk = talkOf("2025-11-25");
  expect(said({ ...discover, ...answer }, ...openingExchanges(talk), listExchange(talk, 1))).toEqual([]);
});

test("that answer is not judged by what the server has agreed on with another client", () => {
  const [discover = {}] = openingExchanges(talkOf("2026-07-28"));
  const talk = talkOf("2025-11-25");
  const refused = { status: 400, replies: [refusal] };
  expect(said(...openingExchanges(talk), { ...discover, ...refused }, listExchange(talk, 1))).toEqual([]);
});

test("an event without data, and a word of HTTP, are no hint why an answer is missing", () => {
  const talk = talkOf("2025-11-25");
  const stream = { isStream: true, replies: [{ raw: "", ev: { id: "1" } }], aborted: "aborted" };
  expect(said(...openingExchanges(talk), listExchange(talk, 1, stream))).toEqual([
    "no response: its HTTP exchange was broken off: aborted",
  ]);
});

test("of two clients that bring input without a state, each goes on with its own call", () => {
  const talk = talkOf("2026-07-28");
  const [opening = {}] = openingExchanges(talk, {}, { client: { elicitation: {} } });
  const question = { method: "elicitation/create", params: { mode: "form", message: "?", requestedSchema: form } };
  const call = (id: number, a: number, input: object = {}): HttpExchange => {
    const sent = talk.request(id, "tools/call", { name: "add", arguments: { a }, ...input });
    return { sent, headers: headersOf(talk, sent) };
  };
  const asks = (id: number): NonNullable<HttpExchange["replies"]> => [
    talk.result(id, { resultType: "input_required", inputRequests: { name: question } }),
  ];
  const input = { inputResponses: { name: { action: "decline" } } };
  const first = { ...call(1, 1), replies: asks(1) };
  const other = { ...call(1, 2), replies: asks(1) };
  expect(
    said(
      opening,
      first,
      other,
      { ...call(2, 1, input), replies: [talk.called(2)] },
      {
        ...call(2, 2, input),
        replies: [talk.called(2)],
      },
    ),
  ).toEqual([]);
});

test("over HTTP with SSE an answer is awaited until the stream ends", () => {
  const talk = talkOf("2024-11-05");
  const [first = "→ ", answer = "← ", initialized = "→ "] = talk.opening();
  const head = { s: "1", k: "h" } as const;
  const posted = (x: number, sent: string): readonly Entry[] => [
    { ...head, n: 0, t: 0, x, ph: "req", method: "POST", url: "/messages?id=7", headers: [] },
    { k: "f", n: 0, s: "1", t: 0, d: "c2s", ch: "http", len: Buffer.byteLength(sent), nl: "", req: x, raw: sent },
    { ...head, n: 0, t: 0, x, ph: "res", status: 202, headers: [] },
    { ...head, n: 0, t: 0, x, ph: "end" },
  ];
  const event = (raw: string, name: string): Entry => ({
    ...{ k: "f", n: 0, s: "1", t: 0, d: "s2c", ch: "sse", len: Buffer.byteLength(raw), nl: "", req: 1, raw },
    ev: { event: name },
  });
  const entries = numbered([
    { ...head, n: 0, t: 0, x: 1, ph: "req", method: "GET", url: "/sse", headers: [["Accept", "text/event-stream"]] },
    { ...head, n: 0, t: 0, x: 1, ph: "res", status: 200, headers: [["Content-Type", "text/event-stream"]] },
    event("/messages?id=7", "endpoint"),
    ...posted(2, first.slice(2)),
    event(answer.slice(2), "message"),
    ...posted(3, initialized.slice(2)),
    ...posted(4, talk.list(1).slice(2)),
    { ...head, n: 0, t: 0, x: 1, ph: "abort" },
  ]);
  expect(saidOf(entries.slice(0, -1))).toEqual([expect.stringMatching(/^waiting /)]);
  expect(saidOf(entries)).toEqual(["no response: the event stream ended"]);
});

describe.each(each(handshake))("in %s", (_version, talk) => {
  const headers = { ...headersOf(talk), "mcp-session-id": "abc" };
  const opened = openingExchanges(talk, { "mcp-session-id": "abc" });
  const call = { sent: talk.call(1), headers, isStream: true };
  const cancel = { sent: told("notifications/cancelled", { requestId: 1 }), headers, status: 202 };

  test("an id that is used again is not said to wait for what will never come", () => {
    expect(said(...opened, { ...call, aborted: "aborted" }, { ...call, replies: [talk.called(1)] })).toEqual([
      "frame 15: the client breaks R-4 at /id: the id 1 is that of the request in frame 11",
      "no response: its HTTP exchange was broken off: aborted",
    ]);
    const entries = numbered([...exchanged(...opened), ...overlapping(call, { ...call, replies: [talk.called(1)] })]);
    expect(saidOf(entries)[0]).toMatch(/R-4 .* frame 11, which still waits for its answer$/);
  });

  test("a request whose answer its client could not accept may be cancelled", () => {
    const twice: HttpExchange = { ...call, replies: [talk.called(1, { content: "x" })] };
    const later = exchanged(...opened, twice, cancel).map((entry) =>
      "x" in entry && entry.x === 4 ? { ...entry, t: entry.t + 60_000 } : entry,
    );
    const slow = later.map((entry) => (entry.k === "f" && entry.req === 4 ? { ...entry, t: entry.t + 60_000 } : entry));
    expect(saidOf(slow)).toEqual([expect.stringMatching(/the server breaks M-6 at \/result\/content/)]);
  });

  test("a cancellation and an answer may cross", () => {
    expect(said(...opened, { ...call, replies: [talk.called(1)] }, cancel)).toEqual([]);
  });
});

describe.each(each(handshake))("in %s", (_version, talk) => {
  const [hello = {}, initialized = {}] = openingExchanges(talk);

  test("two clients of a server without session ids cannot be distinguished by their ids and their handshakes", () => {
    const exchanges = [hello, initialized, hello, listExchange(talk, 1), listExchange(talk, 1), initialized];
    expect(said(...exchanges, listExchange(talk, 1), listExchange(talk, 2))).toEqual([]);
  });

  test("nor by what they have declared, by their tokens, and by what they cancel", () => {
    const sent = talk.call(1, "add", { progressToken: 1 });
    const call = { sent, headers: headersOf(talk), isStream: true };
    const question = asked(0, "sampling/createMessage", {
      messages: [{ role: "user", content: { type: "text", text: "Say hi" } }],
      maxTokens: 10,
    });
    const sampled = answered(0, { role: "assistant", content: { type: "text", text: "hi" }, model: "none" });
    const posted = { headers: headersOf(talk), status: 202 };
    const [firstHello = {}] = openingExchanges(talk, {}, { client: { sampling: {} } });
    const entries = [
      ...exchanged(firstHello, initialized, hello, initialized),
      ...overlapping(
        { ...call, replies: [question, talk.called(1)] },
        { ...call, replies: [question, talk.called(1)] },
      ),
      ...exchanged({ ...posted, sent: sampled }, { ...posted, sent: sampled }),
      ...overlapping({ ...call, replies: [talk.called(1)] }, { ...call, aborted: "the client has gone away" }),
      ...exchanged({ ...posted, sent: told("notifications/cancelled", { requestId: 1 }) }),
    ];
    expect(saidOf(numbered(entries)).filter((words) => !words.startsWith("no response"))).toEqual([]);
  });

  test("nor by the revisions that they speak", () => {
    const older = talkOf("2025-03-26");
    const exchanges = [...openingExchanges(older), hello, initialized, listExchange(older, 1), listExchange(talk, 1)];
    expect(said(...exchanges)).toEqual([]);
  });
});
