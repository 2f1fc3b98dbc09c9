import { latest } from "@parlance/mcp";
import { isObject, type Revision, revisionOf } from "@parlance/mcp/protocol";
import type { HttpExchange, MessageKind, SignInStep, WireMessage } from "../conversation/message.js";
import type { WireSession } from "../conversation/session.js";
import type { ByteRange } from "../json/json-node.js";
import type { JsonText } from "../json/json-scan.js";
import type { FrameChannel, RecordedClause, RecordedVerdict } from "../recording/entry.js";
import type { Frame, Party, Sender } from "../recording/frame.js";

/** The strongest word of BCP 14 in a sentence. Only a broken `must` is a violation; other findings are notes. */
export type Level = "must" | "should" | "may";

/** Every level, strongest first. */
export const levels: readonly Level[] = ["must", "should", "may"];

/** A sentence of the specification, and how strong it is. A member that differs by revision is a function of the revision. */
export interface Clause {
  /**
   * The word in `sentence`; `must` for a declaration of the schema, and `may` for a sentence without such a word or no sentence.
   */
  readonly level: Level | ((revision: Revision) => Level);
  /**
   * The sentence of the specification, verbatim except for emphasis and links; an ellipsis marks omissions. Absent if no sentence
   * states the requirement, which is then only a note.
   */
  readonly sentence?: string | ((revision: Revision) => string | undefined);
  /** Why a finding does not prove that the sentence is broken: then it is a note. Absent if it does. */
  readonly doubt?: string;
  /** The page with the sentence, below the version, with its anchor; or a whole address. */
  readonly page: string | ((revision: Revision) => string);
}

/** A requirement and the sentence of the specification that states it. */
export interface Requirement extends Clause {
  /** A short id that never changes: `R-5`. */
  readonly id: string;
  /** The requirement, in one sentence of our own. */
  readonly demands: string;
}

/** A frame, with its bytes read as JSON. */
export interface FrameReading {
  /** The frame. */
  readonly frame: Frame;
  /** The JSON text. */
  readonly json: JsonText;
  /** The frame with the beginning of the text that this frame continues. */
  readonly continues: Frame | undefined;
  /** The line of that text, from 1. */
  readonly line: number;
  /** The HTTP exchange that carries it, as far as that is recorded. */
  readonly exchange: HttpExchange | undefined;
}

/** Subjects that rules can check. */
export interface Subjects {
  /** The bytes of a frame, whatever they mean. */
  readonly frame: FrameReading;
  /** A frame of an HTTP body, also if it is not read as a message. */
  readonly body: FrameReading;
  /** One message and its context. */
  readonly message: WireMessage;
  /** An HTTP exchange, when its response begins or it ends without one. */
  readonly exchange: HttpExchange;
}

/** One place where a rule is broken. */
export interface Finding {
  /** The fault, in one sentence without its period: the found and the expected value. Safe to print. */
  readonly says: string;
  /** JSON pointer to the place, from the message or from the root of the frame. Default: the whole. */
  readonly pointer?: string;
  /** Bytes of the frame. Default: those of the pointer, or all. */
  readonly range?: ByteRange;
  /** For an exchange: the header at fault, in lower case. */
  readonly header?: string;
  /** The clause that it rests on, if it is not that of its rule. */
  readonly by?: Clause;
  /** The party at fault. Default: the sender; for an exchange, which has two sides, the party of the rule. */
  readonly party?: Party;
}

/** The change after which a faulty frame, or the head of a faulty HTTP message, keeps the rule. */
export type Correction =
  /** The frame should not have been sent. */
  | { readonly is: "nothing" }
  /** Other text belongs in place of a part of the frame. */
  | {
      readonly is: "text";
      /** The offset of the first byte that is replaced. */
      readonly start: number;
      /** The offset after the last byte that is replaced; equal to `start` for an insertion. */
      readonly end: number;
      /** The right text; lines after a line feed are messages of their own. */
      readonly text: string;
    }
  /** A header should have had this value. */
  | {
      readonly is: "header";
      /** The name of the header. */
      readonly name: string;
      /** The right value. */
      readonly value: string;
    }
  /** The response should have had this HTTP status. */
  | {
      readonly is: "status";
      /** The right status. */
      readonly status: number;
    };

/** A finding in the complete conversation: what its correction is derived from. */
export interface Faulty<Subject> {
  /** The frame, message or exchange with the fault. */
  readonly subject: Subject;
  /** JSON pointer to the place, from the message or from the root of the frame. */
  readonly pointer: string;
  /** The HTTP header at fault, in lower case; undefined for another place. */
  readonly header: string | undefined;
  /** The session at the end of the conversation: what it holds may have come after the subject. */
  readonly session: WireSession;
  /** The revision that the subject was judged by. */
  readonly revision: Revision;
  /** The findings of the rule on another subject in its place. */
  readonly findings: (subject: Subject) => Iterable<Finding>;
}

interface RuleOn<On extends keyof Subjects> extends Requirement {
  /** The side that can break it. */
  readonly party: Sender | "either";
  /** For a rule on messages: the kinds that it checks. Default: all. */
  readonly kinds?: readonly MessageKind[];
  /** For a rule on messages: the side whose messages it checks. Default: both. */
  readonly from?: Sender;
  /** For a rule on messages: the methods that it checks; for a response, the method of its request. Default: all. */
  readonly methods?: readonly string[];
  /** For a rule on frames: the channels that it checks. Default: all. */
  readonly channels?: readonly FrameChannel[];
  /** For a rule on exchanges or bodies: the steps of a sign-in that it checks. Default: everything. */
  readonly steps?: readonly SignInStep[];
  /** Whether a revision has the rule. Default: all have it. */
  readonly applies?: (revision: Revision) => boolean;
  /** The kind of subject that the rule is applied to. */
  readonly on: On;
  /** Returns a finding for every place. Never throws, whatever the input. `session` has the state before the subject. */
  readonly check: (subject: Subjects[On], session: WireSession, revision: Revision) => Iterable<Finding>;
  /**
   * Returns what would have been right in place of a finding; undefined if the conversation does not tell it. Default: it never
   * does, for instance because no one knows the number that a server meant by a text.
   */
  readonly correct?: (faulty: Faulty<Subjects[On]>) => Correction | undefined;
}

/** A rule of a family whose rules are all on messages. */
export type MessageRule = Omit<RuleOn<"message">, "on">;

/** A rule of the protocol as data. */
export type Rule = { readonly [On in keyof Subjects]: RuleOn<On> }[keyof Subjects];

/** The fault in one place, with the sentence that it breaks: the result of a rule for one subject, or of a probe that failed. */
export interface Verdict {
  /** The broken rule, or the requirement of a probe. */
  readonly rule: Requirement;
  /** The level of the clause, or `may` if the clause has a doubt. */
  readonly level: Level;
  /** The side that broke it. */
  readonly party: Party;
  /** The number of the observation that it is about. */
  readonly n: number;
  /** JSON pointer in the frame. */
  readonly pointer: string | undefined;
  /** Bytes of the frame that it is about. */
  readonly range: ByteRange | undefined;
  /** The HTTP header that breaks it; undefined for another place. */
  readonly header: string | undefined;
  /** The finding, in one sentence. */
  readonly says: string;
  /** The version that it was judged by. */
  readonly version: string;
  /** The sentence of the specification, verbatim; undefined if none states the requirement. */
  readonly sentence: string | undefined;
  /** Why it is only a note, although the sentence states a stronger requirement. */
  readonly doubt: string | undefined;
  /** The address of the sentence. */
  readonly spec: string;
}

/** Where the specification is published. */
export const specification = "https://modelcontextprotocol.io/specification";

/**
 * The address of the sentence in a revision.
 *
 * @example
 * console.log(rule.id, specOf(rule, revision));
 */
export function specOf({ page }: Clause, revision: Revision): string {
  const path = valueIn(page, revision);
  return path.startsWith("https:") ? path : `${specification}/${revision.version}/${path}`;
}

/**
 * The sentence in a revision; undefined if no sentence states the requirement.
 *
 * @example
 * sentenceOf(rule, revision); // "Tool names SHOULD be unique within a server."
 */
export function sentenceOf({ sentence }: Clause, revision: Revision): string | undefined {
  return valueIn(sentence, revision);
}

/**
 * How strong the sentence is in a revision.
 *
 * @example
 * rules.filter((rule) => levelOf(rule, revision) === "must");
 */
export function levelOf({ level }: Clause, revision: Revision): Level {
  return valueIn(level, revision);
}

/**
 * The level of a finding: one that does not prove a violation is a note.
 *
 * @example
 * levelOfFinding(rule, revision); // "may" if a finding of the rule proves nothing
 */
export function levelOfFinding(clause: Clause, revision: Revision): Level {
  return clause.doubt === undefined ? levelOf(clause, revision) : "may";
}

/** A value in a revision. A value that differs by revision is a function of the revision. */
export function valueIn<Value extends string | undefined>(
  value: Value | ((revision: Revision) => Value),
  revision: Revision,
): Value {
  return typeof value === "function" ? value(revision) : value;
}

/**
 * A verdict as a line of a recording can hold it.
 *
 * @example
 * const entry = { ...frame, v: verdicts.map(recordedVerdict) };
 */
export function recordedVerdict(verdict: Verdict): RecordedVerdict {
  const { rule, party, pointer, range, header, says, version } = verdict;
  return {
    rule: rule.id,
    party,
    ...(pointer !== undefined && { pointer }),
    ...(range !== undefined && { range }),
    ...(header !== undefined && { header }),
    says,
    version,
    ...(!restsOnRule(verdict) && { by: clauseOf(verdict) }),
  };
}

function restsOnRule({ rule, version, sentence, spec, level }: Verdict): boolean {
  const revision = revisionOf(version) ?? latest;
  const own = { sentence: sentenceOf(rule, revision), spec: specOf(rule, revision) };
  return sentence === own.sentence && spec === own.spec && level === levelOfFinding(rule, revision);
}

function clauseOf({ level, sentence, doubt, spec }: Verdict): RecordedClause {
  return { level, ...(sentence !== undefined && { sentence }), ...(doubt !== undefined && { doubt }), spec };
}

const parties: ReadonlySet<unknown> = new Set<Party>(["client", "server", "host", "injected"]);

/** Whether a value is a list of verdicts as a line of a recording holds them. */
export function areRecordedVerdicts(value: unknown): value is readonly RecordedVerdict[] {
  return Array.isArray(value) && value.every(isCarriedVerdict);
}

function isCarriedVerdict(value: unknown): value is RecordedVerdict {
  if (!isObject(value)) return false;
  const { rule, party, pointer = "", range = [0, 0], header = "", says, version, by } = value;
  const texts = [rule, pointer, header, says, version];
  const isPlaced = parties.has(party) && isRange(range);
  return isPlaced && texts.every((each) => typeof each === "string") && (by === undefined || isClause(by));
}

function isClause(value: unknown): value is RecordedClause {
  if (!isObject(value)) return false;
  const { level, sentence = "", doubt = "", spec } = value;
  return levels.some((each) => each === level) && [sentence, doubt, spec].every((each) => typeof each === "string");
}

function isRange(value: unknown): value is ByteRange {
  return Array.isArray(value) && value.length === 2 && value.every((each) => Number.isSafeInteger(each) && each >= 0);
}
