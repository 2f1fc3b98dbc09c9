import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAll, type Transcript } from "./rule-case.js";
import { client, server, talkOf } from "./talk.js";

const talk = talkOf("2025-11-25");
const rpc = { jsonrpc: "2.0" };
const opening = talk.opening();
const withResources = talk.opening({ server: { resources: {} } });

/** The most frequent mistakes of tutorials, each with the first rule that reports it. */
const mistakes: readonly (readonly [mistake: string, rule: string, transcript: Transcript])[] = [
  ["answering a notification", "R-7", [...opening, server({ ...rpc, id: null, result: {} })]],
  ["using an id again", "R-4", [...opening, talk.list(1), talk.listed(1), talk.list(1)]],
  [
    "a result and an error in one response",
    "R-1",
    [...opening, talk.list(1), server({ ...rpc, id: 1, result: { tools: [] }, error: { code: 1, message: "m" } })],
  ],
  ['another `jsonrpc` than `"2.0"`', "R-1", [...opening, client({ jsonrpc: "1.0", id: 1, method: "ping" })]],
  ["no handshake", "L-1", [talk.list(1)]],
  ["operations before `notifications/initialized`", "L-2", [...opening.slice(0, 2), talk.list(1)]],
  [
    "subscribing without the capability",
    "C-1",
    [...withResources, talk.request(1, "resources/subscribe", { uri: "file:///a" })],
  ],
  [
    "an id in a notification",
    "R-8",
    [...opening, client({ ...rpc, id: 5, method: "notifications/cancelled", params: { requestId: 4 } })],
  ],
  ["an error that is a string", "R-6", [...opening, talk.list(1), server({ ...rpc, id: 1, error: "not found" })]],
  ["a response with another id", "R-5", [...opening, talk.list(1), talk.listed(2)]],
  ["an uncaught parse error", "S-2", [...opening, "← SyntaxError: Unexpected end of JSON input"]],
  ["an unchecked message", "M-6", [...opening, talk.call(1), talk.called(1, { content: "42" })]],
  [
    "a notification where an answer is needed",
    "R-2",
    [...opening, client({ ...rpc, method: "tools/call", params: { name: "pay" } })],
  ],
  [
    "params by position",
    "R-9",
    [...opening, client({ ...rpc, id: 1, method: "tools/call", params: ["add", { a: 1 }] })],
  ],
];

test.each(mistakes)("%s is caught by %s", (_mistake, rule, transcript) => {
  const { verdicts } = readAll(transcript);
  expect(verdicts.map((verdict) => verdict.rule.id)).toEqual([rule]);
});

test("the page on rules names them all, with the rule that catches each", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/reference/rules.md"), "utf8");
  for (const [mistake, rule] of mistakes) expect(page).toContain(`| ${mistake} | ${rule} |`);
  expect(mistakes).toHaveLength(14);
});
