import {
  Comparable,
  type Comparison,
  Conversation,
  compareConversations,
  comparisonSteps,
  type Entry,
} from "@parlance/wire";
import { expect, test } from "vitest";
import { header, opening, recorded, type Said } from "../recording/recorded.js";

const call = (id: number, text: string): Said =>
  `→ {"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"search","arguments":${text}}}`;
const answer = (id: number, text: string): Said =>
  `← {"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${text}}}`;

/** Both ends in one, as `parlance diff` reads them: no row is kept. */
function compared(before: readonly Said[], after: readonly Said[]): Comparison {
  const [left, right] = [before, after].map((said) => {
    const conversation = new Conversation({ keepRows: false });
    const comparable = new Comparable();
    for (const entry of recorded(...said)) {
      const row = conversation.push(entry);
      if (row !== undefined) comparable.take(row);
    }
    return comparable;
  });
  if (left === undefined || right === undefined) throw new Error("there are two");
  const steps = comparisonSteps(left, right);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function conversationOf(entries: readonly Entry[]): Conversation {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  return conversation;
}

test("a comparison that keeps no rows finds what one of whole conversations finds", () => {
  const calls = (odd: string): readonly Said[] => [
    ...opening("2025-11-25", { server: { tools: {} } }),
    // More of them than a conversation without rows keeps, answered out of order, and the last one never.
    ...Array.from({ length: 2_500 }, (_, n) => [call(2 * n, `{"q":${n}}`), call(2 * n + 1, `{"q":"${n}"}`)]).flatMap(
      ([first = call(0, ""), second = call(0, "")], n) => [
        first,
        second,
        answer(2 * n + 1, "{}"),
        answer(2 * n, n === 7 ? odd : "{}"),
      ],
    ),
    call(9_999, "{}"),
    "← noise",
  ];
  const [before, after] = [calls('{"n":1}'), calls('{"n":2}')];
  const whole = compareConversations(conversationOf(recorded(...before)), conversationOf(recorded(...after)));
  const lean = compared(before, after);
  const told = ({ items, ...rest }: Comparison): object => ({
    ...rest,
    items: items.map(({ left, right, ...what }) => ({ ...what, n: [left?.n, right?.n], status: left?.status })),
  });
  expect(told(lean)).toEqual(told(whole));
  expect(lean.items).toMatchObject([
    { changes: [{ pointer: "/result/structuredContent/n", before: 1, after: 2 }], outcome: false },
  ]);
  expect(lean.same).toBe(5_003);
});

test.each([
  ["members in another order", '{"a":1,"b":[{"c":1,"d":2}]}', '{"b":[{"d":2,"c":1}],"a":1}', true],
  ["spaces", '{"a":1}', '{ "a": 1 }', true],
  ["integers that a double cannot tell apart", '{"a":12345678901234567890}', '{"a":12345678901234567891}', false],
  [
    "an integer and a string that a comparison could write it as",
    '{"a":12345678901234567890}',
    '{"a":"\\u000012345678901234567890"}',
    false,
  ],
  ["a member called __proto__", '{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', false],
  ["a member that is null and one that is missing", '{"a":null}', "{}", false],
])("of two arguments: %s", (_, before, after, equal) => {
  const talk = (text: string): readonly Said[] => [...opening("2025-11-25"), call(1, text), answer(1, "{}")];
  expect(compared(talk(before), talk(after)).equal).toBe(equal);
});

test("an event without data is no difference, and no noise: a server sends its id so that a client can resume", () => {
  const server = { name: "s", version: "1" };
  const posted = (sent: readonly { readonly id: string; readonly retry?: number; readonly raw: string }[]) => {
    const raw = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`;
    const [json, events] = ["application/json", "text/event-stream"] as const;
    const asked: [string, string][] = [
      ["content-type", json],
      ["accept", `${json}, ${events}`],
    ];
    const http = { k: "h", s: "1", x: 1 } as const;
    const frame = { k: "f", s: "1", nl: "", req: 1 } as const;
    const said = sent.map(({ raw, ...ev }) => ({ ...frame, d: "s2c", ch: "sse", len: raw.length, raw, ev }) as const);
    const entries = [
      { ...http, ph: "req", method: "POST", url: "/mcp", headers: asked } as const,
      { ...frame, d: "c2s", ch: "http", len: raw.length, raw } as const,
      { ...http, ph: "res", status: 200, headers: [["content-type", events]] as [string, string][] } as const,
      ...said,
      { ...http, ph: "end" } as const,
    ].map((entry, index) => ({ ...entry, n: index + 1, t: index }));
    return conversationOf([header, ...entries]);
  };
  const raw = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: server },
  });
  const plain = posted([{ id: "b", raw }]);
  const primed = posted([
    { id: "a", retry: 3000, raw: "" },
    { id: "b", raw },
  ]);
  expect(primed.rows.map(({ kind }) => kind)).toEqual(["http", "req", "http", "event", "res", "http"]);
  expect(primed.verdicts.filter(({ level }) => level === "must")).toEqual([]);
  expect(compareConversations(plain, primed)).toMatchObject({ items: [], same: 1 });
});
