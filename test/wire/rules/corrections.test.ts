import { type Entry, type Row, rules, type Verdict } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import type { HttpEntry } from "../../../packages/wire/src/recording/entry.js";
import { correctedFrame } from "../../../packages/wire/src/rules/corrections/edits.js";
import type { Correction } from "../../../packages/wire/src/rules/rule.js";
import { cases } from "./cases/all-cases.js";
import { crossingsOf, entriesOf, readAll, type Transcript, wordsOf } from "./rule-case.js";
import { asked, client, failed, heard, server, type Talk, talkOf, told } from "./talk.js";

/** The entries of a conversation in which the faulty one is right. */
function corrected(entries: readonly Entry[], { entry, frame }: Row, correction: Correction): readonly Entry[] {
  const inPlace = (old: Entry, ...fresh: readonly Entry[]): readonly Entry[] =>
    entries.flatMap((each) => (each === old ? fresh : [each]));
  if (correction.is === "nothing") return inPlace(entry);
  if (correction.is === "text") {
    if (frame === undefined) throw new Error("the correction of a text is for a frame");
    const { entry: fresh, bytes } = correctedFrame(frame, correction);
    const { raw: _raw, b64: _b64, ...whole } = fresh;
    const lines = Buffer.from(bytes).toString().split("\n");
    // Lines before the last one are messages of their own, which come before it.
    return inPlace(
      entry,
      ...lines.map((raw, index): Entry => {
        return { ...whole, raw, len: Buffer.byteLength(raw), n: whole.n - (lines.length - 1 - index) / lines.length };
      }),
    );
  }
  const exchange = entry.k === "f" ? entry.req : (entry as HttpEntry).x;
  if (correction.is === "status")
    return entries.map((each) =>
      each.k === "h" && each.x === exchange && each.ph === "res" ? { ...each, status: correction.status } : each,
    );
  const { name, value } = correction;
  return entries.map((each) => {
    if (each !== entry || each.k !== "h") return each;
    const others = (each.headers ?? []).filter(([other]) => other.toLowerCase() !== name.toLowerCase());
    return { ...each, headers: [...others, [name, value] as const] };
  });
}

/** The verdicts on one entry, and on the messages that come in its place. */
function verdictsAt(entries: readonly Entry[], n: number): readonly Verdict[] {
  return readAll(entries).verdicts.filter((verdict) => verdict.n > n - 1 && verdict.n <= n);
}

const mustOf = (verdicts: readonly Verdict[]): ReadonlySet<string> =>
  new Set(verdicts.filter(({ level }) => level === "must").map(({ rule }) => rule.id));

const latest = "2026-07-28";
const handshake = "2025-11-25";
const rpc = { jsonrpc: "2.0" };
const schema = (properties: object): object => ({ type: "object", properties });

/** One call of a tool with these schemas, and its answer. */
function calledWith(talk: Talk, definition: object, request: object, result: object): Transcript {
  const tool = { name: "add", inputSchema: schema({}), ...definition };
  const call = { name: "add", arguments: request };
  return [
    ...talk.opening(),
    talk.list(1),
    talk.listed(1, [tool]),
    talk.request(2, "tools/call", call),
    talk.called(2, result as Readonly<Record<string, unknown>>),
  ];
}

/** A transcript, the rule that it breaks, and the part of the message that should have been: the rest is as it is. */
interface Exact {
  readonly rule: string;
  readonly why: string;
  readonly version?: string;
  readonly breaks: (talk: Talk) => Transcript;
  /** What the right message holds; several lines if a message is missing before it, and nothing if there should be none. */
  readonly right: string | readonly string[];
}

const exact: readonly Exact[] = [
  {
    rule: "R-1",
    why: "an error that is null beside a result",
    breaks: (talk) => [...talk.opening(), talk.request(1, "ping"), server({ ...rpc, id: 1, result: {}, error: null })],
    right: '{"jsonrpc":"2.0","id":1,"result":{}}',
  },
  {
    rule: "R-3",
    why: "an id that no request has",
    breaks: (talk) => [...talk.opening(), talk.list(7), talk.listed(7), talk.list(null)],
    right: '"id":8,"method":"tools/list"',
  },
  {
    rule: "R-5",
    why: "the id of the only request that waits",
    breaks: (talk) => [...talk.opening(), talk.request(3, "ping"), server({ ...rpc, id: 99, result: {} })],
    right: '{"jsonrpc":"2.0","id":3,"result":{}}',
  },
  {
    rule: "R-5",
    why: "a second response, where nothing waits",
    breaks: (talk) => [...talk.opening(), talk.request(3, "ping"), talk.result(3), talk.result(3)],
    right: [],
  },
  {
    rule: "R-6",
    why: "a result that is null",
    breaks: (talk) => [...talk.opening(), talk.request(1, "ping"), server({ ...rpc, id: 1, result: null })],
    right: '{"jsonrpc":"2.0","id":1,"result":{}}',
  },
  {
    rule: "R-6",
    why: "a list without its member",
    breaks: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1, result: [] })],
    right: '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}',
  },
  {
    rule: "R-6",
    why: "a text in the place of a tool result",
    version: latest,
    breaks: (talk) => [...talk.opening(), talk.call(1), server({ ...rpc, id: 1, result: "5" })],
    right: '"result":{"content":[{"type":"text","text":"5"}],"resultType":"complete"}',
  },
  {
    rule: "R-6",
    why: "an error that is a text",
    breaks: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1, error: "no disk" })],
    right: '"error":{"code":-32603,"message":"no disk"}',
  },
  {
    rule: "R-6",
    why: "a code that is a text",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      server({ ...rpc, id: 1, error: { code: "-32602", message: "m" } }),
    ],
    right: '"error":{"code":-32602,"message":"m"}',
  },
  {
    rule: "R-6",
    why: "an error without a message",
    breaks: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1, error: { code: -32601 } })],
    right: '"error":{"code":-32601,"message":"Method not found"}',
  },
  {
    rule: "R-9",
    why: "an empty list of params",
    breaks: (talk) => [...talk.opening(), client({ ...rpc, id: 1, method: "ping", params: [] }), talk.result(1)],
    right: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  },
  {
    rule: "R-10",
    why: "two messages in a list",
    breaks: (talk) => [
      ...talk.opening(),
      `→ [${JSON.stringify({ ...rpc, id: 1, method: "ping" })},${JSON.stringify({ ...rpc, id: 2, method: "ping" })}]`,
    ],
    right: ['{"jsonrpc":"2.0","id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":2,"method":"ping"}'],
  },
  {
    rule: "R-12",
    why: "a reserved name before a method",
    breaks: (talk) => [...talk.opening(), client({ ...rpc, id: 1, method: "rpc.ping" }), failed(1, -32601)],
    right: '"method":"ping"',
  },
  {
    rule: "L-2",
    why: "the notification that is missing before it",
    breaks: (talk) => [...talk.opening().slice(0, 2), talk.list(1), talk.listed(1)],
    right: ['{"jsonrpc":"2.0","method":"notifications/initialized"}', '"method":"tools/list"'],
  },
  {
    rule: "S-4",
    why: "a question in the result of the call",
    version: latest,
    breaks: (talk) => [
      ...talk.opening({ client: { roots: {} }, server: { tools: {} } }),
      talk.call(1),
      asked(5, "roots/list"),
    ],
    right:
      '{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"input-1":{"method":"roots/list"}}}}',
  },
  {
    rule: "N-1",
    why: "a result with requests for input",
    version: latest,
    breaks: (talk) => [
      ...talk.opening({ client: { roots: {} }, server: { tools: {} } }),
      talk.call(1),
      server({ ...rpc, id: 1, result: { inputRequests: { a: { method: "roots/list" } } } }),
    ],
    right: ',"resultType":"input_required"}',
  },
  {
    rule: "N-2",
    why: "the capabilities that other requests have",
    version: latest,
    breaks: (talk) => [
      ...talk.opening({ client: { roots: {} } }),
      client({
        ...rpc,
        id: 1,
        method: "tools/list",
        params: { _meta: { "io.modelcontextprotocol/protocolVersion": latest } },
      }),
    ],
    right: `"_meta":{"io.modelcontextprotocol/protocolVersion":"${latest}","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`,
  },
  {
    rule: "M-1",
    why: "the words of a method in another order",
    breaks: (talk) => [...talk.opening(), client({ ...rpc, id: 1, method: "listTools" }), failed(1, -32601)],
    right: '"method":"tools/list"',
  },
  {
    rule: "M-2",
    why: "the words of a notification in another spelling",
    breaks: (talk) => [
      ...talk.opening({ server: { tools: { listChanged: true } } }),
      heard("notifications/tools/listChanged"),
    ],
    right: '"method":"notifications/tools/list_changed"',
  },
  {
    rule: "M-5",
    why: "a number that is a text",
    breaks: (talk) => [
      ...talk.opening({ server: { resources: {} } }),
      talk.request(1, "resources/read", { uri: ["a:b"] }),
      failed(1, -32602),
    ],
    right: '"params":{"uri":"a:b"',
  },
  {
    rule: "M-6",
    why: "content that is a text",
    breaks: (talk) => [...talk.opening(), talk.call(1), server({ ...rpc, id: 1, result: { content: "5" } })],
    right: '"result":{"content":[{"type":"text","text":"5"}]}',
  },
  {
    rule: "M-6",
    why: "one block that is not in a list",
    breaks: (talk) => [...talk.opening(), talk.call(1), talk.called(1, { content: { type: "text", text: "5" } })],
    right: '"content":[{"type":"text","text":"5"}]',
  },
  {
    rule: "M-6",
    why: "an optional member that is null",
    breaks: (talk) => [...talk.opening(), talk.call(1), talk.called(1, { isError: null })],
    right: '"result":{"content":[]}',
  },
  {
    rule: "M-7",
    why: "a progress that is a text",
    breaks: (talk) => [
      ...talk.opening(),
      talk.call(1, "add", { progressToken: 1 }),
      heard("notifications/progress", { progressToken: 1, progress: "0.50" }),
      talk.called(1),
    ],
    right: '"progress":0.50',
  },
  {
    rule: "T-1",
    why: "a number that is a text",
    breaks: (talk) =>
      calledWith(talk, { outputSchema: schema({ sum: { type: "number" } }) }, {}, { structuredContent: { sum: "5" } }),
    right: '"structuredContent":{"sum":5}',
  },
  {
    rule: "T-2",
    why: "a schema under another spelling of its name",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      talk.listed(1, [{ name: "add", input_schema: { type: "object" } }]),
    ],
    right: '{"name":"add","inputSchema":{"type":"object"}}',
  },
  {
    rule: "T-3",
    why: "a type of a programming language",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      talk.listed(1, [{ name: "add", inputSchema: schema({ a: { type: "int" } }) }]),
    ],
    right: '"a":{"type":"integer"}',
  },
  {
    rule: "T-4",
    why: "structured content that is only text",
    breaks: (talk) =>
      calledWith(
        talk,
        { outputSchema: schema({ sum: { type: "number" } }) },
        {},
        { content: [{ type: "text", text: '{"sum":5}' }] },
      ),
    right: '"structuredContent":{"sum":5}',
  },
  {
    rule: "T-5",
    why: "a name with other characters",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      talk.listed(1, [{ name: "add two!", inputSchema: schema({}) }]),
    ],
    right: '"name":"add_two_"',
  },
  {
    rule: "T-6",
    why: "another spelling of a tool",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      talk.listed(1, [{ name: "get_contact", inputSchema: schema({}) }]),
      talk.call(2, "getContact"),
      talk.called(2),
    ],
    right: '"params":{"name":"get_contact"',
  },
  {
    rule: "T-7",
    why: "an integer that is a text",
    breaks: (talk) =>
      calledWith(
        talk,
        { inputSchema: schema({ id: { type: "integer" } }) },
        { id: "12345678901234567890" },
        { content: [] },
      ),
    right: '"arguments":{"id":12345678901234567890}',
  },
  {
    rule: "T-9",
    why: "a failure that the model can read",
    version: latest,
    breaks: (talk) => [...talk.opening(), talk.call(1), failed(1, -32603)],
    right: '"result":{"content":[{"type":"text","text":"m"}],"isError":true,"resultType":"complete"}',
  },
  {
    rule: "P-1",
    why: "the token of the only request with one",
    breaks: (talk) => [
      ...talk.opening(),
      talk.call(1, "add", { progressToken: "a" }),
      heard("notifications/progress", { progressToken: "b", progress: 1 }),
      talk.called(1),
    ],
    right: '"progressToken":"a"',
  },
  {
    rule: "P-1",
    why: "progress that no request asks for",
    breaks: (talk) => [
      ...talk.opening(),
      talk.call(1),
      heard("notifications/progress", { progressToken: 1, progress: 1 }),
      talk.called(1),
    ],
    right: [],
  },
  {
    rule: "X-1",
    why: "the id of the only request that waits",
    breaks: (talk) => [...talk.opening(), talk.call(4), told("notifications/cancelled", { requestId: "4" })],
    right: '"params":{"requestId":4}',
  },
  {
    rule: "I-1",
    why: "the member that parsers use",
    breaks: (talk) => [...talk.opening(), '→ {"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', talk.result(2)],
    right: '{"jsonrpc":"2.0","id":2,"method":"ping"}',
  },
  {
    rule: "I-2",
    why: "the same number without a needless zero",
    breaks: (talk) => [...talk.opening(), '→ {"jsonrpc":"2.0","id":1.0,"method":"ping"}', talk.result(1)],
    right: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  },
];

describe("the right message is", () => {
  test.each(exact.map((each) => [`${each.rule}: ${each.why}`, each] as const))("%s", (_title, each) => {
    const { rule, version = handshake, breaks, right } = each;
    const entries = entriesOf(breaks(talkOf(version)));
    const conversation = readAll(entries);
    const { verdicts, rows } = conversation;
    const verdict = verdicts.find((found) => found.rule.id === rule);
    expect(verdict, wordsOf(verdicts).join("\n")).toBeDefined();
    const row = rows.find(({ n }) => n === verdict?.n);
    const correction = verdict && row && conversation.correct(verdict, row);
    expect(correction).toBeDefined();
    if (verdict === undefined || row === undefined || correction === undefined) return;
    const after = corrected(entries, row, correction);
    const sent = after.flatMap((entry) => (entries.includes(entry) || entry.k !== "f" ? [] : [entry.raw ?? ""]));
    const lines = typeof right === "string" ? [right] : right;
    expect(sent).toEqual(lines.map((line) => expect.stringContaining(line)));
    const left = readAll(after).verdicts.filter(({ n }) => n > verdict.n - 1 && n <= verdict.n);
    expect(wordsOf(left.filter((found) => found.rule === verdict.rule && found.pointer === verdict.pointer))).toEqual(
      [],
    );
  });
});

/** Every case on every way on which it crosses, with the finding of its rule. */
const broken = cases.flatMap((each) =>
  crossingsOf(each).flatMap(({ name, talk, carry }) => {
    const entries = carry(each.breaks(talk));
    if (entries === undefined) return [];
    const conversation = readAll(entries);
    const { verdicts, rows } = conversation;
    return verdicts.flatMap((verdict) => {
      const row = rows.find((candidate) => candidate.verdicts.includes(verdict));
      if (verdict.rule.id !== each.rule || row === undefined) return [];
      const why = each.why === undefined ? "" : `, ${each.why}`;
      return [
        { title: `${each.rule}${why}: ${name}`, entries, verdict, row, correction: conversation.correct(verdict, row) },
      ];
    });
  }),
);

const correctable = broken.flatMap(({ correction, ...each }) =>
  correction === undefined ? [] : [{ ...each, correction }],
);

describe("what would have been right", () => {
  test.each(correctable.map((each) => [each.title, each] as const))("keeps the rule: %s", (_title, each) => {
    const { entries, row, verdict, correction } = each;
    const before = verdictsAt(entries, verdict.n);
    const after = verdictsAt(corrected(entries, row, correction), verdict.n);
    const own = (verdicts: readonly Verdict[]): readonly Verdict[] =>
      verdicts.filter(({ rule }) => rule === verdict.rule);
    expect(own(after).length, wordsOf(after).join("\n")).toBeLessThan(own(before).length);
    // It breaks no other rule instead.
    expect(
      [...mustOf(after)].filter((id) => !mustOf(before).has(id)),
      wordsOf(after).join("\n"),
    ).toEqual([]);
  });

  test("is known for every rule that can tell it, in one of its cases", () => {
    const known = new Set([...correctable.map(({ verdict }) => verdict.rule.id), ...exact.map(({ rule }) => rule)]);
    const unknown = rules.filter(({ id, correct }) => correct !== undefined && !known.has(id)).map(({ id }) => id);
    expect(unknown).toEqual([]);
  });

  test("is unknown only where the conversation does not tell it", () => {
    const without = rules.filter(({ correct }) => correct === undefined).map(({ id }) => id);
    expect(without.toSorted()).toEqual(Object.values(untold).flat().toSorted());
  });
});

/** The rules without a correction, by what no conversation tells. */
const untold: Readonly<Record<string, readonly string[]>> = {
  "what a text that cannot be read was meant to say": ["E-1", "E-2", "S-1", "H-13", "H-15", "H-16", "H-3", "R-11"],
  "when the message would have been right": ["L-1", "L-3"],
  "which code the error was meant to have": ["R-14", "R-15", "N-4"],
  "what the sender supports, allows or knows": ["L-9", "N-5", "Q-1", "H-1", "H-9", "H-14"],
  "what a text, a time or a size should have been": ["I-3", "I-5", "I-6", "I-7"],
  "what the other parties of a sign-in have agreed on": [
    ...Array.from({ length: 21 }, (_each, index) => `AU-${index + 1}`),
  ],
};
