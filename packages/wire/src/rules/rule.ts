import { latest } from "@parlance/mcp";
import { isObject, type Revision, revisionOf } from "@parlance/mcp/protocol";
import type { HttpExchange, MessageKind, SignInStep, WireMessage } from "../conversation/message.js";
import type { WireSession } from "../conversation/session.js";
import type { ByteRange } from "../json/json-node.js";
import type { JsonText } from "../json/json-scan.js";
import type { FrameChannel, RecordedClause, RecordedVerdict } from "../recording/entry.js";
import type { Frame, Party, Sender } from "../recording/frame.js";

/** The strongest word of BCP 14 in a sentence. Only what breaks a `must` is a violation; the rest are notes. */
export type Level = "must" | "should" | "may";

/** Every level, strongest first. */
export const levels: readonly Level[] = ["must", "should", "may"];

/** A sentence of the specification, and how much it demands. A member that differs by revision is a function of it. */
export interface Clause {
  /** The word in `sentence`; `must` where it is a declaration of the schema, and `may` where it has no such word or is absent. */
  readonly level: Level | ((revision: Revision) => Level);
  /**
   * The specification word for word, without emphasis and links; an ellipsis stands for what is left out. Absent where no
   * sentence demands it and it is only worth knowing.
   */
  readonly sentence?: string | ((revision: Revision) => string | undefined);
  /** Why a finding does not prove that the sentence is broken: then it is a note. Absent where it does. */
  readonly doubt?: string;
  /** The page with the sentence, below the version, with its anchor; or a whole address. */
  readonly page: string | ((revision: Revision) => string);
}

/** A requirement and the sentence of the specification that states it. */
export interface Requirement extends Clause {
  /** Short and lasting: `R-5`. */
  readonly id: string;
  /** In one sentence of our own. */
  readonly demands: string;
}

/** A frame as its bytes were read. */
export interface FrameReading {
  /** The frame. */
  readonly frame: Frame;
  /** The JSON text. */
  readonly json: JsonText;
  /** The frame that holds the beginning of the text that this one goes on with. */
  readonly continues: Frame | undefined;
  /** Which line of that text it is, from 1. */
  readonly line: number;
  /** The HTTP exchange that carries it, as far as that is recorded. */
  readonly exchange: HttpExchange | undefined;
}

/** Subjects that rules can check. */
export interface Subjects {
  /** The bytes of a frame, whatever they mean. */
  readonly frame: FrameReading;
  /** A frame of an HTTP body, also where it is not read as a message. */
  readonly body: FrameReading;
  /** One message and its context. */
  readonly message: WireMessage;
  /** An HTTP exchange, when its response begins, or when there will be none. */
  readonly exchange: HttpExchange;
}

/** One place where a rule is broken. */
export interface Finding {
  /** The fault, in one sentence without its period: the found and the expected value. Safe to print. */
  readonly says: string;
  /** JSON pointer to the place, from the message, or from the whole of a frame. Default: all of it. */
  readonly pointer?: string;
  /** Bytes of the frame. Default: those of the pointer, or all. */
  readonly range?: ByteRange;
  /** Of an exchange: the header that it is about, in lower case. */
  readonly header?: string;
  /** The sentence that it rests on, where that is not the one of its rule. */
  readonly by?: Clause;
  /** Who is at fault, where it is not the sender. Of an exchange it must be said: it has two. */
  readonly party?: Party;
}

interface RuleOn<On extends keyof Subjects> extends Requirement {
  /** Who can break it. */
  readonly party: Sender | "either";
  /** Of a rule on messages: the kinds that it looks at. Default: all. */
  readonly kinds?: readonly MessageKind[];
  /** Of a rule on messages: the side whose messages it looks at. Default: both. */
  readonly from?: Sender;
  /** Of a rule on messages: the methods that it looks at; of a response, the method of its request. Default: all. */
  readonly methods?: readonly string[];
  /** Of a rule on frames: the channels that it looks at. Default: all. */
  readonly channels?: readonly FrameChannel[];
  /** Of a rule on exchanges or bodies: the steps of a sign-in that it looks at. Default: everything. */
  readonly steps?: readonly SignInStep[];
  /** Which revisions have it. Default: all. */
  readonly applies?: (revision: Revision) => boolean;
  /** The kind of subject that the rule is applied to. */
  readonly on: On;
  /** Looks, and says every place. Never throws, whatever crossed. `session` is as it was before. */
  readonly check: (subject: Subjects[On], session: WireSession, revision: Revision) => Iterable<Finding>;
}

/** A rule of the protocol as data. */
export type Rule = { readonly [On in keyof Subjects]: RuleOn<On> }[keyof Subjects];

/** The fault in one place, with the sentence that it breaks: the result of a rule for one subject, or of a probe that failed. */
export interface Verdict {
  /** The broken rule, or the requirement of a probe. */
  readonly rule: Requirement;
  /** That of the sentence, or `may` where the rule has a doubt. */
  readonly level: Level;
  /** The side that broke it. */
  readonly party: Party;
  /** The number of what it is about. */
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
  /** Why it is a note although the sentence demands more. */
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
 * The sentence in the words of a revision; undefined where no sentence demands it.
 *
 * @example
 * sentenceOf(rule, revision); // "Tool names SHOULD be unique within a server."
 */
export function sentenceOf({ sentence }: Clause, revision: Revision): string | undefined {
  return valueIn(sentence, revision);
}

/**
 * How much the sentence of a revision demands.
 *
 * @example
 * rules.filter((rule) => levelOf(rule, revision) === "must");
 */
export function levelOf({ level }: Clause, revision: Revision): Level {
  return valueIn(level, revision);
}

/**
 * The level of what is found: a finding that proves nothing is a note.
 *
 * @example
 * levelOfFinding(rule, revision); // "may" if a finding of the rule proves nothing
 */
export function levelOfFinding(clause: Clause, revision: Revision): Level {
  return clause.doubt === undefined ? levelOf(clause, revision) : "may";
}

function valueIn<Value extends string | undefined>(
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
