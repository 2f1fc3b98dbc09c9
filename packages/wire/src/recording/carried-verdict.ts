import { latest } from "@parlance/mcp";
import { isObject, revisionOf } from "@parlance/mcp/protocol";
import type { ByteRange } from "../json/json-node.js";
import { levelOfFinding, levels, sentenceOf, specOf, type Verdict } from "../rules/rule.js";
import type { RecordedClause, RecordedVerdict } from "./entry.js";
import type { Party } from "./frame.js";

/** A verdict as a line of a recording can hold it. */
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
