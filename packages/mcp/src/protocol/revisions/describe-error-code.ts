import { type CodeReading, readingsOf } from "../errors.js";
import { isObject } from "../json.js";
import { revisionOf, versionsWithCode } from "./all.js";

/** The context of an error. The more is known, the better the order of its meanings. */
export interface CodeCircumstances {
  /** The version of the session. */
  readonly revision?: string;
  /** The method that failed. */
  readonly method?: string;
  /** The `data` of the error. */
  readonly data?: unknown;
}

/** One meaning of an error code, and the versions whose specification uses it in that meaning, newest first. */
export interface DescribedCode extends CodeReading {
  readonly revisions: readonly string[];
}

/**
 * All meanings of an error code, most likely first. Only the specification's own meaning is reliable; the others are
 * guesses.
 * https://modelcontextprotocol.io/specification/latest/basic#error-codes
 *
 * @example
 * describeErrorCode(-32_002, { method: "tools/call" })[0].name; // "ToolExecutionFailed"
 */
export function describeErrorCode(code: number, circumstances: CodeCircumstances = {}): readonly DescribedCode[] {
  const sent = versionsWithCode(code);
  return readingsOf(code)
    .map((reading) => ({ ...reading, revisions: isOfficial(reading) ? sent : [] }))
    .toSorted((one, other) => likelihood(other, circumstances) - likelihood(one, circumstances));
}

function isOfficial({ vocabulary }: CodeReading): boolean {
  return vocabulary === "json-rpc" || vocabulary === "specification";
}

/** Weighs `data` most, then the method, then the era. Equal meanings keep their order. */
function likelihood(reading: CodeReading, { revision = "", method, data }: CodeCircumstances): number {
  const hasData =
    reading.data !== undefined && isObject(data) && reading.data.every((member) => Object.hasOwn(data, member));
  const isForeign = method !== undefined && reading.methods !== undefined && !reading.methods.some((m) => m === method);
  // Tutorials use their codes in handshake revisions; drafts of the stateless revision use theirs there.
  const isStateless = revisionOf(revision)?.era === "stateless";
  const isOfOtherEra = isStateless && reading.vocabulary === "catalogue";
  return (hasData ? 4 : 0) - (isForeign ? 2 : 0) - (isOfOtherEra ? 1 : 0);
}
