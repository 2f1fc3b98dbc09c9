import { Conversation, type Entry } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { header, recorded, type Said } from "../recording/recorded.js";
import { exchanged, headersOf } from "../rules/http-talk.js";
import { answered, asked, heard, talkOf, told } from "../rules/talk.js";

type Span = Conversation["timeline"]["spans"][number];

/** The spans of entries: found while the conversation is read, and again afterwards, which must not differ. */
function spansOf(entries: readonly Entry[]): readonly Span[] {
  const [live, late] = [new Conversation(), new Conversation()];
  for (const entry of entries) {
    live.push(entry);
    void live.timeline;
    late.push(entry);
  }
  expect(late.timeline.spans.map(shapeOf)).toEqual(live.timeline.spans.map(shapeOf));
  return live.timeline.spans;
}

function shapeOf({ kind, n, lane, at, until, rows, parts }: Span): unknown {
  return { kind, n, lane, at, until, rows, parts: parts.map((part) => [part.kind, part.n, part.at, part.until]) };
}

function spans(...said: readonly Said[]): readonly Span[] {
  return spansOf(recorded(...said));
}

const old = talkOf("2025-11-25");
const fresh = talkOf("2026-07-28");

describe("the timeline", () => {
  test("has one span for a request with its progress, and the question that the server asks meanwhile", () => {
    const [, call] = spans(
      ...old.opening({ client: { elicitation: {} } }),
      old.call(1, "book", { progressToken: "p" }),
      heard("notifications/progress", { progressToken: "p", progress: 1 }),
      asked(7, "elicitation/create", { message: "?", requestedSchema: { type: "object", properties: {} } }),
      answered(7, { action: "decline" }),
      old.called(1),
    );
    expect(call && shapeOf(call)).toEqual({
      kind: "operation",
      n: 4,
      lane: 0,
      at: 4,
      until: 8,
      rows: [4, 5, 6, 7, 8],
      parts: [
        ["request", 4, 4, 8],
        ["question", 6, 6, 7],
      ],
    });
    expect(call?.notices.map(({ method }) => method)).toEqual(["notifications/progress"]);
  });

  test("shows spans that run at the same time in lanes, and frees a lane at the end of its span", () => {
    const [, a, b, c] = spans(
      ...old.opening(),
      old.call(1, "a"),
      old.call(2, "b"),
      old.called(1),
      old.call(3, "c"),
      old.called(2),
      old.called(3),
    );
    expect([a, b, c].map((each) => each?.lane)).toEqual([0, 1, 0]);
    expect([a, b, c].map((each) => each?.until)).toEqual([6, 8, 9]);
  });

  test("leaves an input request on its own when two calls run and either may have sent it", () => {
    const all = spans(
      ...old.opening({ client: { sampling: {} } }),
      old.call(1, "a"),
      old.call(2, "b"),
      asked(7, "sampling/createMessage", { messages: [], maxTokens: 1 }),
      answered(7),
    );
    expect(all.map(({ from, rows }) => [from, ...rows])).toEqual([
      ["client", 1, 2],
      ["client", 4],
      ["client", 5],
      ["server", 6, 7],
    ]);
    expect(all.map(({ until }) => until)).toEqual([2, undefined, undefined, 7]);
  });

  test("has one span for all rounds of a stateless request, which waits between them", () => {
    const ask = { resultType: "input_required", requestState: "s", inputRequests: {} };
    const first = [...fresh.opening(), fresh.call(1, "book"), fresh.result(1, ask)];
    expect(spans(...first)[1]?.until).toBeUndefined();
    const [, call] = spans(
      ...first,
      fresh.request(2, "tools/call", { name: "book", arguments: {}, requestState: "s", inputResponses: {} }),
      fresh.called(2),
    );
    expect(call?.parts.map(({ kind, n }) => [kind, n])).toEqual([
      ["request", 3],
      ["round", 5],
    ]);
    expect([call?.at, call?.until]).toEqual([3, 6]);
  });

  test("has one span for a task: from the call over polls and its status to its result", () => {
    const task = { taskId: "t", status: "working", createdAt: "", lastUpdatedAt: "", ttl: null };
    const begun = [...old.opening(), old.call(1, "bake"), old.result(1, { task })];
    expect(spans(...begun)[1]?.until).toBeUndefined();
    const [, bake, ...others] = spans(
      ...begun,
      old.request(2, "tasks/get", { taskId: "t" }),
      old.result(2, task),
      heard("notifications/tasks/status", { ...task, status: "completed" }),
      old.request(3, "tasks/result", { taskId: "t" }),
      old.called(3),
    );
    expect(others).toEqual([]);
    expect(bake?.parts.map(({ kind, n }) => [kind, n])).toEqual([
      ["request", 4],
      ["task", 6],
      ["task", 9],
    ]);
    expect(bake?.rows).toEqual([4, 5, 6, 7, 8, 9, 10]);
    expect(bake?.until).toBe(10);
  });

  test("ends the span of a request that is cancelled, or that HTTP refuses", () => {
    const cancelled = told("notifications/cancelled", { requestId: 1 });
    expect(spans(...old.opening(), old.call(1), cancelled)[1]?.until).toBe(5);
    const [refused] = spansOf(exchanged({ sent: old.list(1), status: 503 }));
    expect([refused?.until, refused?.rows]).toEqual([3, [1, 2, 3, 4]]);
  });

  test("has one span for a sign-in, from the response with 401 to its last exchange", () => {
    const list = fresh.list(1);
    const headers = headersOf(fresh, list);
    const all = spansOf([
      { ...header, server: { url: "http://127.0.0.1:3000/mcp" } },
      ...exchanged(
        { sent: list, headers, status: 401 },
        { method: "GET", url: "https://a.example/.well-known/oauth-authorization-server" },
        { url: "https://a.example/token" },
        { sent: list, headers, replies: [fresh.listed(1)] },
      ),
    ]);
    expect(all.map(({ kind, at, until, rows }) => ({ kind, at, until, rows }))).toEqual([
      { kind: "operation", at: 2, until: 3, rows: [1, 2, 3, 4] },
      { kind: "sign-in", at: 3, until: 10, rows: [5, 6, 7, 8, 9, 10] },
      { kind: "operation", at: 12, until: 14, rows: [11, 12, 13, 14, 15] },
    ]);
    expect(all[1]?.parts.map(({ kind, n }) => [kind, n])).toEqual([
      ["exchange", 5],
      ["exchange", 8],
    ]);
  });

  test("finds the span of a row, and whether one of its rows breaks a rule", () => {
    const conversation = new Conversation();
    for (const entry of recorded(...old.opening(), old.list(1), old.listed(1), "← noise")) conversation.push(entry);
    const { timeline } = conversation;
    expect(timeline.spanOf(5)?.n).toBe(4);
    expect(timeline.spanOf(6)).toBeUndefined();
    expect(timeline.spans.map(({ isBad }) => isBad)).toEqual([false, false]);
    const [bad] = spans(`→ {"jsonrpc":"2.0","id":null,"method":"ping"}`);
    expect(bad?.isBad).toBe(true);
  });
});
