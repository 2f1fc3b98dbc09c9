import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Conversation, describeVerdict, type Entry } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { inForm, isLong } from "../../testing/forms.js";

type Line = readonly [from: "client" | "server", message: object];

/** More calls than a conversation without rows keeps in full. */
const calls = inForm({ long: 3_000, short: 2_200 });

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

/** The same over HTTP: a message of the client begins an exchange, and the next message of the server ends it. */
function httpEntries(lines: readonly Line[]): readonly Entry[] {
  const head = { s: "1", t: 0 } as const;
  let x = 0;
  const parts = entries(lines).flatMap((entry): readonly Entry[] => {
    if (entry.k !== "f") return [];
    const isRequest = entry.d === "c2s";
    if (isRequest) x += 1;
    const frame: Entry = { ...entry, ch: "http", req: x, nl: "" };
    const headers = [["content-type", "application/json"]] as const;
    return isRequest
      ? [{ k: "h", n: 0, ...head, x, ph: "req", method: "POST", url: "/mcp", headers }, frame]
      : [{ k: "h", n: 0, ...head, x, ph: "res", status: 200, headers }, frame, { k: "h", n: 0, ...head, x, ph: "end" }];
  });
  return parts.map((entry, index) => ({ ...entry, n: index + 1, t: index }) as Entry);
}

function judged(
  lines: readonly Line[],
  keepRows: boolean,
  read: (lines: readonly Line[]) => readonly Entry[],
): { conversation: Conversation; verdicts: readonly string[] } {
  const conversation = new Conversation({ keepRows });
  const rows = read(lines).map((entry) => conversation.push(entry));
  conversation.finish();
  return { conversation, verdicts: rows.flatMap((row) => row?.verdicts.map(describeVerdict) ?? []) };
}

describe.each([
  ["on stdio", entries, 0],
  ["over HTTP", httpEntries, 1],
] as const)("a conversation %s that keeps no rows", (_name, entriesOf, turn) => {
  // The short form has each message in one of the two conversations, in turn.
  const messages = Object.entries(late).filter((_message, at) => isLong || at % 2 === turn);
  const before = [...handshake, ...Array.from({ length: calls }, (_, id) => call(id)).flat()];
  // Each conversation is read once, because thousands of calls take a while.
  const withoutLate = [true, false].map((keepRows) => judged(before, keepRows, entriesOf));
  const read = new Map<Line, ReturnType<typeof judged>>();
  const leanWith = (line: Line): ReturnType<typeof judged> => {
    const lean = read.get(line) ?? judged([...before, line], false, entriesOf);
    read.set(line, lean);
    return lean;
  };

  test.each(messages)("judges %s as one that keeps them", (_, line) => {
    const [whole, lean] = [judged([...before, line], true, entriesOf), leanWith(line)];
    expect(lean.verdicts).toEqual(whole.verdicts);
    expect(lean.conversation.pending().map(({ reason }) => reason)).toEqual(
      whole.conversation.pending().map(({ reason }) => reason),
    );
  });

  test("names a violation in each of these messages, and so does the other", () => {
    const clean = withoutLate[0]?.verdicts.length ?? Number.POSITIVE_INFINITY;
    for (const [, line] of messages) expect(leanWith(line).verdicts.length).toBeGreaterThan(clean);
  });

  test("has only the newest of the answered operations", () => {
    const [whole, lean] = withoutLate.map(({ conversation }) => conversation.sessions[0]?.operations ?? []);
    expect(whole).toHaveLength(calls + 1);
    expect(lean?.length).toBeLessThan(calls * 0.75);
    expect(lean?.at(-1)?.request.id).toBe(whole?.at(-1)?.request.id);
  });
});

test("a conversation that keeps no rows forgets exchanges of HTTP that ended long ago", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const lines = [...handshake, ...Array.from({ length: calls }, (_, id) => call(id)).flat()];
  const conversation = new Conversation({ keepRows: false });
  const early: WeakRef<object>[] = [];
  for (const entry of httpEntries(lines)) {
    const { exchange } = conversation.push(entry) ?? {};
    if (exchange !== undefined && exchange.number > 10 && exchange.number <= 20) early.push(new WeakRef(exchange));
  }
  await new Promise((resolve) => setImmediate(resolve)); // A reference lives until its turn is over.
  collect();
  expect(early.length).toBeGreaterThan(10);
  expect(early.filter((each) => each.deref() !== undefined)).toEqual([]);
  expect(conversation.sessions).toHaveLength(1);
});
