import { isObject } from "../base/json.js";
import type { CarriedVerdict } from "./entry.js";
import type { Party } from "./frame.js";
import type { ByteRange } from "./json-node.js";
import type { Verdict } from "./rule.js";

/** A verdict as a line of a recording can hold it. */
export function carriedVerdict({ rule, party, pointer, range, header, says, version }: Verdict): CarriedVerdict {
  return {
    rule: rule.id,
    party,
    ...(pointer !== undefined && { pointer }),
    ...(range !== undefined && { range }),
    ...(header !== undefined && { header }),
    says,
    version,
  };
}

const parties: ReadonlySet<unknown> = new Set<Party>(["client", "server", "host", "injected"]);

/** Whether a value is a list of verdicts as a line of a recording holds them. */
export function areCarriedVerdicts(value: unknown): value is readonly CarriedVerdict[] {
  return Array.isArray(value) && value.every(isCarriedVerdict);
}

function isCarriedVerdict(value: unknown): value is CarriedVerdict {
  if (!isObject(value)) return false;
  const { rule, party, pointer = "", range = [0, 0], header = "", says, version } = value;
  const texts = [rule, pointer, header, says, version];
  return texts.every((each) => typeof each === "string") && parties.has(party) && isRange(range);
}

function isRange(value: unknown): value is ByteRange {
  return Array.isArray(value) && value.length === 2 && value.every((each) => Number.isSafeInteger(each) && each >= 0);
}
