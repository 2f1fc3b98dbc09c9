import type { Entry, FrameEntry } from "@parlance/wire";
import type { Said } from "../../recording/recorded.js";
import type { RuleCase } from "../rule-case.js";
import { frames, type Talk } from "../talk.js";

/** An answer to a call whose one text is written as it is given. */
function answer(talk: Talk, id: unknown, literal: string): Said {
  return talk.called(id, { structuredContent: { it: "?" } }).replace('"?"', literal) as Said;
}

/** Calls of a tool, each with what it took to answer it. */
function timed(talk: Talk, times: readonly number[]): readonly Entry[] {
  const calls = times.flatMap((_, index): readonly Said[] => [talk.call(index + 1), talk.called(index + 1)]);
  const opening = talk.opening();
  let now = 0;
  return frames([...opening, ...calls], (frame, index) => {
    const call = index - opening.length;
    now += call >= 0 && call % 2 === 1 ? (times[(call - 1) / 2] ?? 0) : 1;
    return { ...frame, t: now };
  });
}

/** The last frame, with other bytes in front or another end. */
function last(talk: Talk, change: (frame: FrameEntry) => FrameEntry): readonly Entry[] {
  const said = [...talk.opening(), talk.list(1), talk.listed(1)];
  return frames(said, (frame, index) => (index === said.length - 1 ? change(frame) : frame));
}

function withMark(frame: FrameEntry): FrameEntry {
  const raw = `\uFEFF${frame.raw}`;
  return { ...frame, raw, len: Buffer.byteLength(raw) } as FrameEntry;
}

const twenty = Array.from({ length: 20 }, () => 10);

/** Transcripts for the rules of this family. */
export const informationCases: readonly RuleCase[] = [
  {
    rule: "I-1",
    breaks: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, '{"a":1,"b":2,"\\u0061":3}')],
    found: { party: "server", pointer: "/result/structuredContent/it/a", text: '"\\u0061":3' },
    legal: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, '{"a":{"a":1},"A":2}')],
  },
  {
    rule: "I-2",
    why: "beyond a double",
    breaks: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, "12345678901234567890")],
    found: {
      party: "server",
      pointer: "/result/structuredContent/it",
      text: "12345678901234567890",
      says: "most readers make 12345678901234567000 of 12345678901234567890",
    },
    legal: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, "9007199254740991")],
  },
  {
    rule: "I-2",
    why: "written otherwise",
    breaks: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, "1.0")],
    found: { party: "server", pointer: "/result/structuredContent/it", text: "1.0" },
    legal: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, "[1,-1,1.5,1e+21]")],
  },
  {
    rule: "I-3",
    breaks: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, '["\\ud83d"]')],
    found: { party: "server", pointer: "/result/structuredContent/it/0", text: '"\\ud83d"' },
    legal: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, '["\\ud83d\\ude00"]')],
  },
  {
    rule: "I-4",
    breaks: (talk) => last(talk, withMark),
    found: { party: "server", text: "\uFEFF" },
    legal: (talk) => last(talk, (frame) => frame),
  },
  {
    rule: "I-5",
    stdioOnly: "it is about the ends of lines",
    breaks: (talk) => last(talk, (frame) => ({ ...frame, nl: "\r\n" })),
    found: { party: "server" },
    legal: (talk) => last(talk, (frame) => frame),
  },
  {
    rule: "I-6",
    breaks: (talk) => timed(talk, [...twenty, 41]),
    found: { party: "server", pointer: "/id", says: "it took 41 ms, where most take up to 10 ms" },
    legal: (talk) => timed(talk, [...twenty, 40]),
  },
  {
    rule: "I-7",
    breaks: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, `"${"x".repeat(1024 * 1024)}"`)],
    found: { party: "server", says: "it has 1.0 MiB" },
    legal: (talk) => [...talk.opening(), talk.call(1), answer(talk, 1, `"${"x".repeat(1024 * 1000)}"`)],
  },
];
