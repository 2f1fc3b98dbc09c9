import { Conversation, describeVerdict, type Entry } from "@parlance/wire";
import { describe, expect, test } from "vitest";

type Line = readonly [from: "client" | "server", message: object];

/** More calls than a conversation without rows keeps in full. */
const calls = 3_000;

const handshake: readonly Line[] = [
  [
    "client",
    {
      id: "open",
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
    },
  ],
  [
    "server",
    {
      id: "open",
      result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    },
  ],
  ["client", { method: "notifications/initialized" }],
];

function call(id: number): readonly Line[] {
  const params = { name: "add", arguments: { a: id }, _meta: { progressToken: `token ${id}` } };
  return [
    ["client", { id, method: "tools/call", params }],
    id % 7 === 0
      ? ["server", { id, error: { code: -32_602, message: "no" } }]
      : ["server", { id, result: { content: [] } }],
  ];
}

/** Messages that refer to calls at the beginning of the conversation, and break a rule by that. */
const late: Readonly<Record<string, Line>> = {
  "a request with the id of an old one": ["client", { id: 3, method: "ping" }],
  "a second response": ["server", { id: 4, result: { content: [] } }],
  "a second response, an error": ["server", { id: 5, error: { code: -32_603, message: "no" } }],
  "a response with the id as a string": ["server", { id: "6", result: { content: [] } }],
  "a cancellation of an answered request": ["client", { method: "notifications/cancelled", params: { requestId: 7 } }],
  "progress of an answered request": [
    "server",
    { method: "notifications/progress", params: { progressToken: "token 8", progress: 1 } },
  ],
  "progress of no request": [
    "server",
    { method: "notifications/progress", params: { progressToken: "none", progress: 1 } },
  ],
  "a response to no request": ["server", { id: 999_999, result: {} }],
  "a second initialize": ["client", handshake[0]?.[1] ?? {}],
};

function entries(lines: readonly Line[]): readonly Entry[] {
  return lines.map(([from, message], index) => {
    const raw = JSON.stringify({ jsonrpc: "2.0", ...message });
    const way = from === "client" ? ({ d: "c2s", ch: "stdin" } as const) : ({ d: "s2c", ch: "stdout" } as const);
    return { k: "f", n: index + 1, s: "1", t: index, ...way, len: Buffer.byteLength(raw), nl: "\n", raw };
  });
}

function judged(
  lines: readonly Line[],
  keepRows: boolean,
): { conversation: Conversation; verdicts: readonly string[] } {
  const conversation = new Conversation({ keepRows });
  const rows = entries(lines).map((entry) => conversation.push(entry));
  conversation.finish();
  return { conversation, verdicts: rows.flatMap((row) => row?.verdicts.map(describeVerdict) ?? []) };
}

describe("a conversation that keeps no rows", () => {
  const before = [...handshake, ...Array.from({ length: calls }, (_, id) => call(id)).flat()];
  // Each conversation is read once, because thousands of calls take a while.
  const withoutLate = [true, false].map((keepRows) => judged(before, keepRows));
  const read = new Map<Line, ReturnType<typeof judged>>();
  const leanWith = (line: Line): ReturnType<typeof judged> => {
    const lean = read.get(line) ?? judged([...before, line], false);
    read.set(line, lean);
    return lean;
  };

  test.each(Object.entries(late))("judges %s as one that keeps them", (_, line) => {
    const [whole, lean] = [judged([...before, line], true), leanWith(line)];
    expect(lean.verdicts).toEqual(whole.verdicts);
    expect(lean.conversation.pending().map(({ reason }) => reason)).toEqual(
      whole.conversation.pending().map(({ reason }) => reason),
    );
  });

  test("names a violation in each of these messages, and so does the other", () => {
    const clean = withoutLate[0]?.verdicts.length ?? Number.POSITIVE_INFINITY;
    for (const line of Object.values(late)) expect(leanWith(line).verdicts.length).toBeGreaterThan(clean);
  });

  test("has only the newest of the answered operations", () => {
    const [whole, lean] = withoutLate.map(({ conversation }) => conversation.sessions[0]?.operations ?? []);
    expect(whole).toHaveLength(calls + 1);
    expect(lean?.length).toBeLessThan(calls * 0.75);
    expect(lean?.at(-1)?.request.id).toBe(whole?.at(-1)?.request.id);
  });
});
