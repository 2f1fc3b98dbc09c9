import { versions } from "@parlance/mcp";
import { didYouMean, codes as engineCodes } from "@parlance/mcp/jsonrpc";
import {
  codeReadings,
  type Method,
  methodAliases,
  methods,
  notifications,
  revisionOf,
  versionAliases,
} from "@parlance/mcp/protocol";
import { usageFailure } from "../../shared/failure.js";
import { codesNamed, explainErrorCode } from "./codes.js";
import type { Explanation, Topic } from "./explanation.js";
import { explainNotification, explainRequest } from "./messages.js";
import { explainRevision } from "./revisions.js";
import { explainProbe, explainRule, probeIds, ruleIds } from "./rules.js";

type NotificationMethod = (typeof notifications)[keyof typeof notifications];

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

/** Explains a code, the name of one, a method, a revision, a rule, or a probe. @throws Failure that names the nearest words */
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
  if (explanations.length > 0) return { remark: undefined, explanations };
  const known = [...topics.flatMap(({ names }) => names), ...codeNames, ...methodAliases.keys()];
  const everything = "parlance explain, without a word, lists everything";
  const near = didYouMean(word, known);
  throw usageFailure(`${word} is unknown`, near === undefined ? everything : `${near}\n${everything}`);
}

function named(word: string): readonly Explanation[] {
  const request = requestNames.find((name): name is Method => name === word);
  if (request !== undefined) return [explainRequest(request)];
  const notification = notificationNames.find((name): name is NotificationMethod => name === word);
  if (notification !== undefined) return [explainNotification(notification)];
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
