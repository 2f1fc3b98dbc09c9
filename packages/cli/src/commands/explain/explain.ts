import { versions } from "@parlance/mcp";
import { didYouMean, codes as engineCodes } from "@parlance/mcp/jsonrpc";
import {
  codeReadings,
  methodAliases,
  methods,
  notifications,
  revisionOf,
  versionAliases,
} from "@parlance/mcp/protocol";
import { statusRemedy } from "../../shared/client/url-failure.js";
import { usageFailure } from "../../shared/failure.js";
import { codesNamed, explainErrorCode } from "./codes.js";
import type { Explanation, Topic } from "./explanation.js";
import { explainMessage, messagesOfCapability } from "./messages.js";
import { explainRevision } from "./revisions.js";
import { explainProbe, explainRule, probeIds, ruleIds } from "./rules.js";

/** The explanations of a word. */
export interface Explained {
  /** A remark on a loose name: the correct name. */
  readonly remark: string | undefined;
  readonly explanations: readonly Explanation[];
}

const requestNames = Object.values(methods);
const notificationNames = Object.values(notifications);
const codes = [...new Set([...codeReadings.map(({ code }) => code), ...Object.values(engineCodes)])].toSorted(
  (a, b) => a - b,
);
const codeNames = [...new Set(codeReadings.map(({ name }) => name))];

/** Everything that can be explained, by topic. */
export const topics: readonly { readonly topic: Topic; readonly names: readonly string[] }[] = [
  { topic: "code", names: codes.map(String) },
  { topic: "request", names: requestNames },
  { topic: "notification", names: notificationNames },
  { topic: "revision", names: versions },
  { topic: "rule", names: ruleIds },
  { topic: "probe", names: probeIds },
];

/** The HTTP statuses of MCP servers, and the proxies in front of them, that users take for error codes. */
const statuses: ReadonlyMap<string, string> = new Map([
  ["400", "the request is malformed, names another revision, or needs a session"],
  ["401", "the server requires a token, or refuses the one it got"],
  ["403", "the token has no permission, or the server refuses the Host or Origin"],
  ["404", "there is no such path, or the session has ended"],
  ["405", "the endpoint does not have this HTTP method: a GET is for an event stream, a DELETE ends a session"],
  ["406", "the Accept of a POST must have application/json and text/event-stream"],
  ["409", "the session has an event stream already"],
  ["413", "the body is larger than the limit of the server, or of a proxy or body parser before it"],
  ["415", "the Content-Type must be application/json"],
  ["429", "the caller has too many calls, sessions or streams"],
  ["500", "the server failed before it could answer in JSON-RPC"],
  ["502", "a proxy got no valid response from the server"],
  ["503", "the server shuts down, or has no room for a further session or call"],
  ["504", "a proxy waited too long for the server"],
]);

function statusRemark(word: string): string | undefined {
  const says = statuses.get(word);
  if (says === undefined) return undefined;
  const remedy = statusRemedy(Number(word));
  return `As an HTTP status, ${word} says: ${says}${remedy === undefined ? "" : ` (${remedy})`}. parlance doctor <url> finds the cause. As an error code:`;
}

/** Explains a code, the name of one, a method, a capability, a revision, a rule, or a probe. @throws Failure that names the nearest words */
export function explain(word: string): Explained {
  const alias = methodAliases.get(word);
  if (alias !== undefined) {
    const whose = alias.origin === "tutorials" ? "tutorials" : `the ${alias.origin}`;
    const remark = `${word} is in no revision: did you mean ${alias.method}? The loose name is that of ${whose}.`;
    return { remark, explanations: named(alias.method) };
  }
  const version = versionAliases.get(word);
  if (version !== undefined)
    return { remark: `${word} is no revision: did you mean ${version}?`, explanations: named(version) };
  const explanations = named(word);
  if (explanations.length > 0) return { remark: statusRemark(word), explanations };
  const messages = messagesOfCapability(word);
  if (messages.length > 0)
    return { remark: `${word} is a capability. These messages need it:`, explanations: messages.flatMap(named) };
  const known = [...topics.flatMap(({ names }) => names), ...codeNames, ...methodAliases.keys()];
  const everything = "parlance explain, without a word, lists everything";
  const near = didYouMean(word, known);
  throw usageFailure(`${word} is unknown`, near === undefined ? everything : `${near}\n${everything}`);
}

function named(word: string): readonly Explanation[] {
  const method = [...requestNames, ...notificationNames].find((name) => name === word);
  if (method !== undefined) return [explainMessage(method)];
  const revision = revisionOf(word);
  if (revision !== undefined) return [explainRevision(revision)];
  const rule = explainRule(word) ?? explainProbe(word);
  if (rule !== undefined) return [rule];
  const [, sign, digits] = /^([-−–]?)(\d{1,15})$/.exec(word) ?? [];
  if (digits !== undefined) {
    // A minus gets lost easily, and no named code is positive.
    const isNegative = sign !== "" || codes.includes(-Number(digits));
    return explainErrorCode(isNegative ? -Number(digits) : Number(digits));
  }
  return codesNamed(word).flatMap(explainErrorCode);
}
