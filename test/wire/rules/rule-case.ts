import { versions } from "@parlance/mcp";
import { bytesOf, Conversation, type Entry, type FrameEntry, rules, type Verdict } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import type { Party } from "../../../packages/wire/src/recording/frame.js";
import { isLong } from "../../testing/forms.js";
import { recorded, type Said } from "../recording/recorded.js";
import { carriersOf, type HttpCarrier, overHttp } from "./over-http.js";
import { type Talk, talkOf } from "./talk.js";

/** The form of a transcript: lines of stdio, or the entries of a recording. */
export type Transcript = readonly Said[] | readonly Entry[];

/** A transcript that breaks a rule, and one that is just legal. */
export interface RuleCase {
  readonly rule: string;
  /** The distinction of the case, where a rule has several. */
  readonly why?: string;
  /** Why it cannot cross HTTP. Absent where it can: then it does, over every transport of the revision. */
  readonly stdioOnly?: string;
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
  /** Further rules that it breaks over Streamable HTTP. */
  readonly besidesOverHttp?: readonly string[];
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

const broken = (verdicts: readonly Verdict[]): readonly Verdict[] => verdicts.filter(({ level }) => level !== "may");

/** A way on which the transcripts of a case cross. */
interface Crossing {
  readonly name: string;
  readonly talk: Talk;
  /** The exchanges for lines of stdio over HTTP; undefined for a transcript as it is written. */
  readonly transport: HttpCarrier | undefined;
  /** The same transcript as it looks there; undefined where it has no place there. */
  readonly carry: (transcript: Transcript) => readonly Entry[] | undefined;
}

/** Every way on which a case crosses: as it is written, and what is lines of stdio over HTTP too. */
export function crossingsOf({ where, stdioOnly }: RuleCase): readonly Crossing[] {
  const talks = versions.map(talkOf).filter((talk) => where?.(talk) ?? true);
  return talks.flatMap((talk): readonly Crossing[] => {
    const written: Crossing = { name: talk.version, talk, transport: undefined, carry: entriesOf };
    if (stdioOnly !== undefined) return [written];
    const overCarrier = (transport: HttpCarrier): Crossing => ({
      name: `${talk.version}, ${transport}`,
      talk,
      transport,
      carry: (transcript) => {
        const lines = entriesOf(transcript).filter(isLine);
        return lines.length === transcript.length ? overHttp(talk, lines, transport) : undefined;
      },
    });
    return [written, ...carriersOf(talk).map(overCarrier)];
  });
}

let lastTurn = 0;

/** The rows of a case that are tried: all in the long form, and every third one in the short form, beginning with another one each time. */
export function tried<T>(rows: readonly T[]): readonly T[] {
  lastTurn += 1;
  const first = lastTurn % Math.min(3, rows.length);
  return isLong ? rows : rows.filter((_row, at) => at % 3 === first);
}

function isStreamable(transport: HttpCarrier | undefined): boolean {
  return transport !== undefined && transport !== "HTTP with SSE";
}

/** Whether an entry is a line of stdio. */
function isLine(entry: Entry): entry is FrameEntry {
  return entry.k === "f" && (entry.ch === "stdin" || entry.ch === "stdout");
}

/** Tests every case in every revision that it is about, on every way on which it crosses. */
export function testRules(cases: readonly RuleCase[]): void {
  for (const each of cases) {
    const rule = rules.find(({ id }) => id === each.rule);
    describe(`${each.rule}${each.why === undefined ? "" : `, ${each.why}`}`, () => {
      const crossings = crossingsOf(each);
      const breaking = crossings.flatMap((crossing) => {
        const entries = crossing.carry(each.breaks(crossing.talk));
        return entries === undefined ? [] : [[crossing.name, entries, crossing.transport] as const];
      });
      const keeping = crossings.flatMap((crossing) => {
        const entries = crossing.carry(each.legal(crossing.talk));
        return entries === undefined ? [] : [[crossing.name, entries] as const];
      });
      test.each(tried(breaking))("is seen in %s, and nothing else is", (_name, entries, transport) => {
        expect(rule, `there is no rule ${each.rule}`).toBeDefined();
        const { verdicts, rows } = readAll(entries);
        const found = verdicts.filter((verdict) => verdict.rule === rule);
        expect(wordsOf(found)).toHaveLength(1);
        const others = new Set(broken(verdicts).map((verdict) => verdict.rule.id));
        others.delete(each.rule);
        expect([...others], wordsOf(verdicts).join("\n")).toEqual([
          ...(each.besides ?? []),
          ...(isStreamable(transport) ? (each.besidesOverHttp ?? []) : []),
        ]);
        const [verdict] = found;
        const { back = 0, party, pointer, text, header, says } = each.found;
        expect(verdict).toMatchObject({ party, ...(header !== undefined && { header }) });
        if (pointer !== undefined) expect(verdict?.pointer).toBe(pointer);
        if (typeof says === "string") expect(verdict?.says).toBe(says);
        else if (says !== undefined) expect(verdict?.says).toMatch(says);
        // Where lines of stdio are carried, they are counted without the heads around them.
        const counted = transport !== undefined ? rows.filter(({ entry }) => entry.k === "f") : rows;
        const row = rows.find(({ n }) => n === verdict?.n);
        expect(row).toBe(counted.at(-1 - back));
        if (text !== undefined) expect(textOf(row?.entry, verdict)).toBe(text);
      });
      test.each(tried(keeping))("is kept in %s", (_name, entries) => {
        const { verdicts } = readAll(entries);
        expect(wordsOf(broken(verdicts))).toEqual([]);
        expect(wordsOf(verdicts.filter((verdict) => verdict.rule === rule))).toEqual([]);
      });
    });
  }
}

function textOf(entry: Entry | undefined, verdict: Verdict | undefined): string | undefined {
  if (entry?.k !== "f" || verdict?.range === undefined) return undefined;
  return Buffer.from(bytesOf(entry).slice(...verdict.range)).toString();
}
