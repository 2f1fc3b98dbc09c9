import { writeFileSync } from "node:fs";
import { Conversation, describeVerdict, type Entry } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { explain } from "../../../packages/cli/src/commands/explain/explain.js";
import { LiveConversation } from "../../../packages/cli/src/shared/client/live-conversation.js";
import { cutMiddle, verbatimLines, widthOf } from "../../../packages/cli/src/shared/output/columns.js";
import { partsOf, rowLines } from "../../../packages/cli/src/shared/output/conversation-rows.js";
import { headingRow, type Look } from "../../../packages/cli/src/shared/output/rows.js";
import { styleOf } from "../../../packages/cli/src/shared/output/style.js";
import type { HttpEntry } from "../../../packages/wire/src/recording/entry.js";
import { opening, recorded, type Said } from "../../wire/recording/recorded.js";
import { RecordingFolder } from "../../wire/recording/recording-folder.js";
import { misbehaving, parlance, start, toolsServer } from "../run.js";
import { Scratch } from "../scratch.js";

const greeted = opening("2025-11-25", { server: { tools: {} } });
const list: Said = '→ {"jsonrpc":"2.0","id":7,"method":"tools/list"}';
const listed: Said = '← {"jsonrpc":"2.0","id":7,"result":{"tools":[]}}';

function judged(entries: readonly Entry[]): Conversation {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return conversation;
}

/** The rows of a recording, as a terminal of so many columns shows them. */
function shown(width: number, entries: readonly Entry[]): readonly string[] {
  const look: Look = { style: styleOf(false), width, clock: "s" };
  return [headingRow(look), ...judged(entries).rows.flatMap((row) => rowLines(row, look))];
}

describe("a narrow line", () => {
  test("continues a verdict below, so that its point stays", () => {
    const twice = recorded(...greeted, list, listed, listed);
    expect(shown(60, twice).slice(-2)).toEqual([
      "    ✖ R-5 server: /id the request with the id 7 was answered",
      "      already, by frame 5",
    ]);
    expect(shown(100, twice).at(-1)).toBe(
      "              ✖ R-5 server: /id the request with the id 7 was answered already, by frame 5",
    );
    expect(cutMiddle("the beginning, something between, and the point", 30)).toBe("the beginni…een, and the point");
    expect(cutMiddle("short", 30)).toBe("short");
    expect(widthOf(cutMiddle("日本語のテキスト".repeat(9), 30))).toBeLessThanOrEqual(30);
  });

  test("holds a row of every kind", () => {
    const stderr: Entry = { k: "e", n: 99, s: "1", t: 9, raw: `${"x".repeat(200)}\n` };
    for (const width of [60, 70, 80, 100]) {
      const rows = shown(width, [...recorded(...greeted, list, listed, listed, "← [debug] noise"), stderr]);
      expect(rows.filter((row) => widthOf(row) > width)).toEqual([]);
    }
    expect(shown(60, recorded(list, listed))).toEqual([
      "  n   kind  id ↔    method, or what it answers       latency",
      "  1 → req   7       tools/list",
      expect.stringMatching(/^ {4}✖ L-1 /),
      "      initialize",
      "  2 ← res   7 ↔1    tools/list: 0 tools               1.0 ms",
    ]);
  });

  test("holds what commands print for people", async () => {
    using folder = new RecordingFolder();
    const columns = { ...folder.env, COLUMNS: "60" };
    const revisions = ["--revision", "2025-11-25", "--revision", "2026-07-28"];
    const outputs = [
      (await parlance(["run", "--once", "--name", "tools", ...toolsServer], columns)).stdout,
      (await parlance(["talk", "--once", ...revisions, ...toolsServer], columns)).stdout,
      (await parlance(["list", ...toolsServer], columns)).stdout,
      (await parlance(["doctor", ...misbehaving("noisy")], columns)).stdout,
      (await parlance(["check", "--revision", "2025-11-25", ...misbehaving("noisy")], columns)).stdout,
      (await parlance(["ls"], columns)).stdout,
    ];
    // Addresses and paths are not cut: they are there to be copied.
    const lines = outputs
      .flatMap((output) => output.split("\n"))
      .filter((line) => !/https:\/\/|^recorded to|\/node/.test(line));
    expect(lines.filter((line) => widthOf(line) > 60)).toEqual([]);
  });
});

test("the id column fits the ids of a long conversation, and the frames that they belong to", () => {
  const many = recorded(
    ...greeted,
    ...Array.from({ length: 600 }, (_, index): readonly Said[] => [
      `→ {"jsonrpc":"2.0","id":${1_000 + index},"method":"ping"}`,
      `← {"jsonrpc":"2.0","id":${1_000 + index},"result":{}}`,
    ]).flat(),
  );
  const last = shown(100, many).at(-1) ?? "";
  expect(last).toContain(" server ← res   1599 ↔1202 ping: ");
  expect(widthOf(last)).toBeLessThanOrEqual(100);
});

test("a place that the words begin with is not said twice", () => {
  const wrong: Said = '← {"jsonrpc":"2.0","id":7,"result":{"tools":7}}';
  const rows = shown(120, recorded(...greeted, list, wrong));
  expect(rows.at(-1)).toMatch(/✖ M-6 server: \/result\/tools must be an array, got 7$/);
  const { verdicts } = judged(recorded(...greeted, list, wrong));
  expect(verdicts.map(describeVerdict)).toEqual([
    "frame 5: the server breaks M-6 at /result/tools: must be an array, got 7",
  ]);
});

test("a result that requests input names what it requests", () => {
  const call: Said = '→ {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"book"}}';
  const inputRequests = { a: { method: "elicitation/create" }, b: { method: "roots/list" }, c: 3, d: {} };
  const result = (more: object): Said =>
    `← ${JSON.stringify({ jsonrpc: "2.0", id: 7, result: { resultType: "input_required", ...more } })}`;
  expect(shown(140, recorded(call, result({ inputRequests }))).join("\n")).toContain(
    "tools/call: book requests elicitation/create, roots/list, ?, ?",
  );
  expect(shown(140, recorded(call, result({}))).join("\n")).toContain("tools/call: book requests no input");
});

test("a stack trace of a server keeps its lines", () => {
  const trace = "Error: boom\n    at work (server.js:7)\n    at main (server.js:9)\n";
  const rows = shown(100, [{ k: "e", n: 1, s: "1", t: 1, raw: trace }]);
  expect(rows.slice(1)).toEqual([
    "  1  0.001000 server   stderr        Error: boom",
    "                                         at work (server.js:7)",
    "                                         at main (server.js:9)",
  ]);
});

test("a report without violations has a tick, whatever else it is failed for", async () => {
  using scratch = new Scratch();
  const exit: Entry = { k: "l", n: 9, s: "1", t: 9, ev: "exit", code: 1, sig: null };
  const path = scratch.write("crash.parlance.jsonl", [...recorded(...greeted, list), exit]);
  const { stdout } = await parlance(["check", path]);
  expect(stdout).toMatch(/^✔ no violations · ✖ 1 crash · ✖ 1 request unanswered · 4 frames · 0 lost\n/);
});

test("JSON that is printed over several lines is named once as such", () => {
  const pretty = JSON.stringify({ jsonrpc: "2.0", id: 7, result: { tools: [] } }, undefined, 2).split("\n");
  const rows = shown(140, recorded(...greeted, list, ...pretty.map((line): Said => `← ${line}`)));
  const marks = rows.filter((row) => row.includes("✖"));
  expect(marks.map((row) => row.trim())).toEqual([
    "✖ S-1 server: the line ends after 1 bytes of a message, before the message does",
    "✖ S-1 server: it continues the message that frame 5 begins: JSON printed on several lines",
  ]);
});

test("a talk names JSON that is printed over several lines once as such, too", () => {
  const conversation = new LiveConversation({ stdio: true });
  const pretty = JSON.stringify({ jsonrpc: "2.0", id: 7, result: { tools: [{ name: "a" }] } }, undefined, 2);
  const frames = [...pretty.split("\n"), listed.slice(2), "{", "[debug] noise"];
  const marks = frames.flatMap((frame) => {
    const row = conversation.read({ kind: "received", frame }, 1);
    return row === undefined ? [] : partsOf(row).flatMap((part) => part.marks.map(({ text }) => text));
  });
  expect(marks).toEqual([
    "S-1 server: the line ends after 1 bytes of a message, before the message does",
    "S-1 server: it continues the message that frame 1 begins: JSON printed on several lines",
    "R-5 server: /id no request has the id 7",
    "S-1 server: the line ends after 1 bytes of a message, before the message does",
    'S-2 server: it is not JSON: expected a value at byte 1, but found "d"',
  ]);
});

test.each([
  ["42900", "Too many requests, of Parlance: not in the specification", "then retry"],
  ["-32800", "Request cancelled, of the Language Server Protocol: not in the specification", "neither side:"],
])("explain %s names whose code it is", (word, title, fault) => {
  const [explanation] = explain(word).explanations;
  expect(explanation?.title).toContain(title);
  expect(explanation?.facts.find(({ label }) => label === "at fault")?.text).toContain(fault);
});

const stream: readonly Entry[] = [
  http(1, { ph: "req", method: "POST", url: "/mcp", headers: [["content-type", "application/json"]] }),
  { k: "f", n: 2, s: "0", t: 2, d: "c2s", ch: "http", len: list.length - 2, nl: "", req: 1, raw: list.slice(2) },
  http(3, { ph: "res", status: 200, headers: [["content-type", "text/event-stream"]] }),
  event(4, '{"jsonrpc":"2.0","method":"notifications/message",\n"params":{"level":"info","data":1}}', { id: "a-1" }),
  event(5, listed.slice(2), { event: "message", id: "a-2", retry: 500 }),
  http(6, { ph: "end" }),
];

function http(n: number, more: Pick<HttpEntry, "ph"> & Partial<HttpEntry>): HttpEntry {
  return { k: "h", n, s: "0", t: n, x: 1, ...more };
}

function event(n: number, raw: string, ev: { id?: string; event?: string; retry?: number }): Entry {
  return { k: "f", n, s: "0", t: n, d: "s2c", ch: "sse", len: Buffer.byteLength(raw), nl: "", req: 1, raw, ev };
}

test("HAR keeps an event stream as it stands in a body", async () => {
  using scratch = new Scratch();
  const { stdout } = await parlance(["export", scratch.write("stream.parlance.jsonl", stream), "-T", "har"]);
  const { log } = JSON.parse(stdout) as { readonly log: { readonly entries: readonly object[] } };
  expect(log.entries).toMatchObject([
    {
      request: { postData: { text: list.slice(2) } },
      response: {
        content: {
          mimeType: "text/event-stream",
          text: [
            "id: a-1",
            'data: {"jsonrpc":"2.0","method":"notifications/message",',
            'data: "params":{"level":"info","data":1}}',
            "",
            "event: message",
            "id: a-2",
            "retry: 500",
            `data: ${listed.slice(2)}`,
            "",
            "",
          ].join("\n"),
        },
      },
    },
  ]);
});

test("an exported SARIF has the line of the recording for everything that it says", async () => {
  using scratch = new Scratch();
  const exit: Entry = { k: "l", n: 9, s: "1", t: 9, ev: "exit", code: 1, sig: null };
  const path = scratch.write("run.parlance.jsonl", [...recorded(...greeted, list, "← noise"), exit]);
  const { stdout } = await parlance(["export", path, "-T", "sarif"]);
  const { runs } = JSON.parse(stdout) as { readonly runs: readonly [{ readonly results: readonly object[] }] };
  const at = (ruleId: string, startLine: number): object => {
    return { ruleId, locations: [{ physicalLocation: { region: { startLine } } }] };
  };
  expect(runs[0].results).toMatchObject([at("S-2", 6), at("pending", 5), at("crash", 7)]);
  const { stdout: junit } = await parlance(["export", path, "-T", "junit"]);
  expect(junit).toContain("run:6 frame 5, server");
});

test("many conversations in a row leave no listeners that make Node warn", async () => {
  const revisions = Array.from({ length: 12 }, () => ["--revision", "2025-11-25"]).flat();
  const { code, stderr } = await parlance(["talk", "--once", "--json", ...revisions, ...toolsServer]);
  const said = stderr.split("\n").filter((line) => !line.startsWith("still starting")); // On a busy machine.
  expect({ code, said }).toEqual({ code: 0, said: [""] });
});

test("call keeps the line breaks of a text as they are", async () => {
  expect(verbatimLines("a\r\nb\nc\rd")).toEqual(["a\r", "b", "c\\u{d}d"]);
  using scratch = new Scratch();
  const file = scratch.at("server.mjs");
  writeFileSync(
    file,
    `process.stdin.on("data", (chunk) => String(chunk).split("\\n").filter(Boolean).forEach((line) => {
      const { id, method, params } = JSON.parse(line);
      const result = {
        initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "crlf", version: "1" } },
        "tools/list": { tools: [{ name: "text", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: "one\\r\\ntwo\\nthree" }] },
      }[method];
      if (result) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }));`,
  );
  const running = start(["call", "--revision", "2025-11-25", "text", "--", process.execPath, file]);
  expect((await running.ended).stdout).toBe("one\r\ntwo\nthree\n");
});
