import type { Entry, FrameEntry } from "@parlance/mcp/wire";
import { expect, test } from "vitest";
import { recorded } from "./recorded.js";
import { exchanged, listExchange } from "./rules/http-talk.js";
import { readAll, wordsOf } from "./rules/rule-case.js";
import { heard, talkOf } from "./rules/talk.js";

// What was not seen is not held against anyone.

const talk = talkOf("2025-11-25");
const gap: Entry = { k: "gap", t: 3, from: 2, to: 3, lost: 5, why: "the disk was full" };
const progress = heard("notifications/progress", { progressToken: 7, progress: 1 });

test("behind a gap no response is a stray one, and no progress belongs to nothing", () => {
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
    '2 L-1 client /method: "tools/list" is asked for before initialize',
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
