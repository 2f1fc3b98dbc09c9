import { type Entry, type FrameEntry, reportOf } from "@parlance/wire";
import { expect, test } from "vitest";
import { recorded } from "../recording/recorded.js";
import { exchanged, listExchange } from "../rules/http-talk.js";
import { readAll, wordsOf } from "../rules/rule-case.js";
import { heard, talkOf } from "../rules/talk.js";

// Missing frames are no violation.

const talk = talkOf("2025-11-25");
const gap: Entry = { k: "gap", t: 3, from: 2, to: 3, lost: 5, why: "the disk was full" };
const progress = heard("notifications/progress", { progressToken: 7, progress: 1 });

test("after a gap no response counts as unmatched, and no progress as unknown", () => {
  const before = recorded(...talk.opening());
  const after = recorded(talk.listed(5), progress, talk.request(9, "tools/list", { cursor: "next" }));
  expect(wordsOf(readAll([...before, ...after]).verdicts)).toHaveLength(3);
  expect(wordsOf(readAll([...before, gap, ...after]).verdicts)).toEqual([]);
});

test("a frame that was kept in part may have been the request of any response", () => {
  const entries = recorded(...talk.opening(), talk.call(1), talk.called(1)).map((entry, index): Entry => {
    if (entry.k !== "f" || index !== 3) return entry;
    return { ...entry, raw: entry.raw?.slice(0, 20) ?? "", b64: undefined, kept: 20 } as FrameEntry;
  });
  expect(wordsOf(readAll(entries).verdicts)).toEqual([]);
});

test("who names a session of HTTP in the first thing that is seen has opened it before", () => {
  const named = { "mcp-session-id": "abc" };
  expect(wordsOf(readAll(exchanged(listExchange(talk, 1, { headers: named }))).verdicts)).toEqual([]);
  expect(wordsOf(readAll(exchanged(listExchange(talk, 1))).verdicts)).toEqual([
    '2 L-1 client /method: "tools/list" is requested before initialize',
  ]);
});

test("what a person or a fault has put in is neither side's fault", () => {
  const entries = recorded(...talk.opening(), talk.listed(5)).map(
    (entry, index): Entry => (entry.k === "f" && index === 3 ? { ...entry, by: "inject" } : entry),
  );
  expect(wordsOf(readAll(entries).verdicts)).toEqual(["4 R-5 injected /id: no request has the id 5"]);
});

test("a conversation of a revision that is not known is not judged", () => {
  const later = talkOf("2030-01-01")
    .opening()
    .map((line) => line.replace('"name":"peer"', '"name":7'));
  const { rows } = readAll(recorded(...(later as typeof later & readonly `→ ${string}`[]), talk.listed(5)));
  expect(rows.at(-1)?.unjudged).toBe("it speaks 2030-01-01 which is not known");
  expect(rows.at(-1)?.verdicts).toEqual([]);
});

function cutAt(entry: Entry, kept: number): Entry {
  if (entry.k !== "f") return entry;
  return { ...entry, raw: entry.raw?.slice(0, kept) ?? "", b64: undefined, kept } as FrameEntry;
}

const exit: Entry = { k: "l", n: 9, s: "1", t: 9, ev: "exit", code: 0 };

test("an answer that the recorder has cut is an answer, where its beginning has the id", () => {
  const [answer, ...rest] = recorded(talk.called(1)).map((entry) => ({ ...cutAt(entry, 40), n: 8, t: 8 }) as Entry);
  const entries = [
    ...recorded(...talk.opening(), talk.call(1)),
    ...(answer === undefined ? [] : [answer]),
    ...rest,
    exit,
  ];
  const conversation = readAll(entries);
  expect(conversation.rows.at(-2)).toMatchObject({
    kind: "frag",
    unjudged: expect.stringMatching(/^it was cut by the recorder: 40 of/),
  });
  expect(conversation.pending()).toEqual([]);
});

test("whether a cut frame is the answer is not known, where its id is cut off: nothing is said to be missing", () => {
  const said = '← {"result":{"content":[{"type":"text","text":"long"}]},"jsonrpc":"2.0","id":1}';
  const [answer] = recorded(said).map((entry) => ({ ...cutAt(entry, 40), n: 8, t: 8 }) as FrameEntry);
  const entries = [...recorded(...talk.opening(), talk.call(1)), ...(answer === undefined ? [] : [answer]), exit];
  const conversation = readAll(entries);
  const [pending] = conversation.pending();
  expect(pending).toMatchObject({ over: false, state: "unknown" });
  expect(pending?.reason).toBe(
    `not known: frame 8, which may answer it, was cut by the recorder (40 of its ${answer?.len} bytes are kept)`,
  );
  const report = reportOf({ source: "x", conversation, failOn: ["pending"] });
  expect(report).toMatchObject({ passed: true, pending: [{}] });
});
