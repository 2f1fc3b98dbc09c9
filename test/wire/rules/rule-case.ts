import { versions } from "@parlance/mcp";
import { bytesOf, Conversation, type Entry, type Party, rules, type Verdict } from "@parlance/mcp/wire";
import { describe, expect, test } from "vitest";
import { recorded, type Said } from "../recorded.js";
import { type Talk, talkOf } from "./talk.js";

/** What a transcript is given as: lines of stdio, or the entries of a recording. */
export type Transcript = readonly Said[] | readonly Entry[];

/** A transcript that breaks a rule, and one that is just legal. */
export interface RuleCase {
  readonly rule: string;
  /** What is special about it, where a rule has several. */
  readonly why?: string;
  /** In which of the revisions that the rule applies to. Default: all. */
  readonly where?: (talk: Talk) => boolean;
  readonly breaks: (talk: Talk) => Transcript;
  /** The one place that is found. */
  readonly found: {
    /** The frame, counted from the last one, which is 0. */
    readonly back?: number;
    readonly party: Party;
    readonly pointer?: string;
    /** The bytes that it is about. */
    readonly text?: string;
    readonly header?: string;
    readonly says?: string | RegExp;
  };
  /** Other rules that the same transcript cannot but break. */
  readonly besides?: readonly string[];
  /** It breaks no rule at all. */
  readonly legal: (talk: Talk) => Transcript;
}

/** Reads a transcript to its end. */
export function readAll(transcript: Transcript): Conversation {
  const conversation = new Conversation();
  for (const entry of entriesOf(transcript)) conversation.push(entry);
  conversation.finish();
  return conversation;
}

/** The entries of a transcript. */
export function entriesOf(transcript: Transcript): readonly Entry[] {
  const isText = (line: Said | Entry): line is Said => typeof line === "string";
  return transcript.flatMap((line, index) =>
    isText(line) ? recorded(...transcript.filter(isText)).slice(index, index + 1) : [line],
  );
}

/** The verdicts of a rule, as a test shows them. */
export function wordsOf(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts.map(({ n, rule, party, pointer, says }) => `${n} ${rule.id} ${party} ${pointer ?? "-"}: ${says}`);
}

const bad = (verdicts: readonly Verdict[]): readonly Verdict[] => verdicts.filter(({ level }) => level === "must");

/** Tests every case in every revision that it is about. */
export function testRules(cases: readonly RuleCase[]): void {
  for (const each of cases) {
    const rule = rules.find(({ id }) => id === each.rule);
    describe(`${each.rule}${each.why === undefined ? "" : `, ${each.why}`}`, () => {
      const talks = versions.map(talkOf).filter((talk) => each.where?.(talk) ?? true);
      test.each(talks.map((talk) => [talk.version, talk] as const))(
        "is seen in %s, and nothing else is",
        (_version, talk) => {
          expect(rule, `there is no rule ${each.rule}`).toBeDefined();
          const { verdicts, rows } = readAll(each.breaks(talk));
          const found = verdicts.filter((verdict) => verdict.rule === rule);
          expect(wordsOf(found)).toHaveLength(1);
          const others = new Set(bad(verdicts).map((verdict) => verdict.rule.id));
          others.delete(each.rule);
          expect([...others], wordsOf(verdicts).join("\n")).toEqual(each.besides ?? []);
          const [verdict] = found;
          const { back = 0, party, pointer, text, header, says } = each.found;
          expect(verdict).toMatchObject({ party, ...(header !== undefined && { header }) });
          if (pointer !== undefined) expect(verdict?.pointer).toBe(pointer);
          if (typeof says === "string") expect(verdict?.says).toBe(says);
          else if (says !== undefined) expect(verdict?.says).toMatch(says);
          const row = rows.find(({ n }) => n === verdict?.n);
          expect(row).toBe(rows.at(-1 - back));
          if (text !== undefined) expect(textOf(row?.entry, verdict)).toBe(text);
        },
      );
      test.each(talks.map((talk) => [talk.version, talk] as const))("is kept in %s", (_version, talk) => {
        const { verdicts } = readAll(each.legal(talk));
        expect(wordsOf(bad(verdicts))).toEqual([]);
        expect(wordsOf(verdicts.filter((verdict) => verdict.rule === rule))).toEqual([]);
      });
    });
  }
}

function textOf(entry: Entry | undefined, verdict: Verdict | undefined): string | undefined {
  if (entry?.k !== "f" || verdict?.range === undefined) return undefined;
  return Buffer.from(bytesOf(entry).slice(...verdict.range)).toString();
}
