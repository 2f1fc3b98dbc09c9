import { type CodeReading, readingsOf } from "../protocol/errors.js";
import { isObject } from "../protocol/json.js";
import { revisionOf, versionsWithCode } from "./all.js";

/** What is known of an error besides its code. The more there is, the better its most likely reading is. */
export interface CodeCircumstances {
  /** The version that the peers speak. */
  readonly revision?: string;
  /** The method that was answered with it. */
  readonly method?: string;
  /** The `data` of the error. */
  readonly data?: unknown;
}

/** One reading of a code, and the versions whose specification sends it in that sense, newest first. */
export interface DescribedCode extends CodeReading {
  readonly revisions: readonly string[];
}

/**
 * Everything that a code can mean, most likely first. A guess: what is not the specification's own reading says nothing
 * for certain.
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

/** What `data` says counts most, then the method, then the era. Readings that are as likely keep their order. */
function likelihood(reading: CodeReading, { revision = "", method, data }: CodeCircumstances): number {
  const hasData =
    reading.data !== undefined && isObject(data) && reading.data.every((member) => Object.hasOwn(data, member));
  const isForeign = method !== undefined && reading.methods !== undefined && !reading.methods.some((m) => m === method);
  // The catalogue is of the handshake era; what the drafts of the stateless one sent is of the other.
  const isStateless = revisionOf(revision)?.era === "stateless";
  const isOfOtherEra = isStateless && reading.vocabulary === "catalogue";
  return (hasData ? 4 : 0) - (isForeign ? 2 : 0) - (isOfOtherEra ? 1 : 0);
}
