import { expect, test } from "vitest";
import { LiveConversation } from "../../../packages/cli/src/shared/client/live-conversation.js";
import { cut, left, right, widthOf } from "../../../packages/cli/src/shared/output/columns.js";
import { partsOf } from "../../../packages/cli/src/shared/output/conversation-rows.js";
import { bytesText, durationText, parseDuration } from "../../../packages/cli/src/shared/output/quantities.js";
import { splitWords } from "../../../packages/cli/src/shared/target/target.js";
import { TextLines } from "../../../packages/cli/src/shared/text-lines.js";

test.each([
  ["node server.js", ["node", "server.js"]],
  ["  a \t b\n", ["a", "b"]],
  [`'a b' "c d" e'f'"g"`, ["a b", "c d", "efg"]],
  [
    String.raw`C:\node\node.exe "say \"hi\" \\ \n" '\'`,
    [String.raw`C:\node\node.exe`, String.raw`say "hi" \ \n`, "\\"],
  ],
  [`"" ''`, ["", ""]],
  ["", []],
  ["'open", undefined],
  ['a "open', undefined],
])("the words of %j", (text, words) => {
  expect(splitWords(text)).toEqual(words);
});

test.each([
  ["500ms", 500],
  ["1.5s", 1_500],
  ["10", 10_000],
  ["2m", 120_000],
  ["0", undefined],
  ["-1s", undefined],
  ["1h", undefined],
  ["9999m", undefined],
  ["", undefined],
])("the duration %j", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test("a cell has its width, whatever it holds", () => {
  for (const text of [
    "",
    "short",
    "a text that is too long",
    "日本語のテキスト",
    "👩‍👩‍👧 family",
    "\u001b[31m",
    "a\tb\nc",
    "x".repeat(1e6),
  ]) {
    for (const width of [1, 2, 7, 12]) {
      expect(widthOf(left(text, width)), text.slice(0, 30)).toBe(width);
      expect(widthOf(right(text, width)), text.slice(0, 30)).toBe(width);
    }
  }
  expect(cut("a text that is too long", 8)).toBe("a text …");
  expect(cut("日本語のテキスト", 8)).toBe("日本語…");
  expect(cut("anything", 0)).toBe("");
});

test("amounts are short and keep their unit", () => {
  expect([0, 999, 1_000, 9_949, 10_000, 999_499, 999_500, 16_777_216].map(bytesText)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "9.9 kB",
    "10 kB",
    "999 kB",
    "1.0 MB",
    "17 MB",
  ]);
  expect([0, 0.94, 99.94, 99.95, 999, 1_240, 65_000].map(durationText)).toEqual([
    "0.0 ms",
    "0.9 ms",
    "99.9 ms",
    "100 ms",
    "999 ms",
    "1.24 s",
    "65.0 s",
  ]);
});

test("lines come whole from any chunks, and too long ones in pieces", () => {
  const text = `first\r\nzweite Zeile: ä\n\nlast ${"x".repeat(20_000)}`;
  const bytes = new TextEncoder().encode(text);
  const seen = [1, 7, bytes.length].map((size) => {
    const lines: string[] = [];
    const split = new TextLines((line) => lines.push(line));
    for (let at = 0; at < bytes.length; at += size) split.push(bytes.subarray(at, at + size));
    split.end();
    return lines;
  });
  for (const lines of seen) {
    expect(lines.slice(0, 3)).toEqual(["first", "zweite Zeile: ä", ""]);
    expect(lines.slice(3).join("")).toBe(`last ${"x".repeat(20_000)}`);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(8_192);
  }
});

test("ids of the two sides, and of two types, are not mistaken for each other", () => {
  const conversation = new LiveConversation({ stdio: true });
  const pairs = [
    conversation.read({ kind: "sent", frame: '{"jsonrpc":"2.0","id":1,"method":"a"}' }, 0),
    conversation.read({ kind: "received", frame: '{"jsonrpc":"2.0","id":1,"method":"b"}' }, 1),
    conversation.read({ kind: "sent", frame: '{"jsonrpc":"2.0","id":1,"result":{}}' }, 2),
    conversation.read({ kind: "received", frame: '{"jsonrpc":"2.0","id":"1","result":{}}' }, 3),
    conversation.read({ kind: "received", frame: '{"jsonrpc":"2.0","id":1,"result":{}}' }, 4),
  ].map((row) => row && partsOf(row)[0]);
  expect(pairs.map((part) => [part?.pair, part?.method, part?.latency])).toEqual([
    [undefined, "a", undefined],
    [undefined, "b", undefined],
    [2, "b", 1],
    [1, "a", undefined],
    [1, "a", 4],
  ]);
  expect(pairs[3]?.marks).toEqual([
    { level: "must", text: 'R-5 server: /id the request in frame 1 has the id 1, which is not "1"' },
  ]);
  expect(conversation.tally).toEqual({ frames: 5, bytes: 184, calls: 1, errors: 0, violations: 1 });
});
