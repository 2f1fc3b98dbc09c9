import { isObject } from "../../base/json.js";
import { type CodeReading, readingsOf } from "../errors.js";
import type { Method, NotificationMethod } from "../methods.js";
import { type BySender, type Era, publish, type Revision } from "./revision.js";
import { v2026_07_28 as newest } from "./v2026-07-28.js";

/** Every published revision, oldest first. A new one is added by importing its file as the newest. */
export const revisions: readonly Revision[] = publish(newest);

const newestFirst = revisions.toReversed();

/** The newest revision. Its shapes are the internal form of messages. */
export const latest: Revision = requireRevision(() => true);

/** The newest revision with an `initialize` handshake. */
export const latestHandshake: Revision = requireRevision(({ era }) => era === "handshake");

const byVersion: ReadonlyMap<string, Revision> = new Map(revisions.map((revision) => [revision.version, revision]));

/**
 * The revision of a version; undefined for an unknown one.
 *
 * @example
 * revisionOf("2025-06-18")?.facts.batches; // false
 */
export function revisionOf(version: string): Revision | undefined {
  return byVersion.get(version);
}

/** The revision of a version that an application names. @throws RangeError for a version that does not exist */
export function knownRevision(version: string): Revision {
  const revision = revisionOf(version);
  if (revision !== undefined) return revision;
  throw new RangeError(`Unknown protocol revision ${JSON.stringify(version)}: use one of ${versions.join(", ")}`);
}

/** Every version, newest first. */
export const versions: readonly string[] = newestFirst.map(({ version }) => version);

/** The versions that `initialize` can negotiate, newest first. */
export const handshakeVersions: readonly string[] = versionsOf("handshake");

/** The versions that a stateless request can declare, newest first. */
export const statelessVersions: readonly string[] = versionsOf("stateless");

/** The revision of an HTTP request that does not declare one, as the specification requires. */
export const defaultHttpRevision: Revision = requireRevision(
  ({ facts }) => facts.httpBinding === "session" && facts.httpVersionHeader === "none",
);

/** The newest revision of a kind that exists. */
function requireRevision(isMeant: (revision: Revision) => boolean): Revision {
  const revision = newestFirst.find(isMeant);
  if (revision === undefined) throw new Error("no revision is like that");
  return revision;
}

function versionsOf(era: Era): readonly string[] {
  return newestFirst.filter((revision) => revision.era === era).map(({ version }) => version);
}

/**
 * The versions whose specification uses an error code, newest first.
 *
 * @example
 * versionsWithCode(-32_042); // ["2025-11-25"]
 */
export function versionsWithCode(code: number): readonly string[] {
  return newestFirst.filter(({ codes }) => Object.values(codes).includes(code)).map(({ version }) => version);
}

/** The requests of all revisions, from either side. */
export const protocolRequests: ReadonlySet<string> = namesIn(({ requests }) => requests);
const allNotifications = namesIn(({ notifications }) => notifications);

function namesIn(messagesOf: (revision: Revision) => BySender<ReadonlySet<string>>): ReadonlySet<string> {
  return new Set(revisions.map(messagesOf).flatMap(({ client, server }) => [...client, ...server]));
}

/**
 * Whether any revision has this request. Otherwise it can only belong to an extension.
 *
 * @example
 * isProtocolMethod("tools/call"); // true
 */
export function isProtocolMethod(name: string): name is Method {
  return protocolRequests.has(name);
}

/** Whether any revision has this notification. */
export function isProtocolNotification(name: string): name is NotificationMethod {
  return allNotifications.has(name);
}

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
  /** The revisions that have the code, the newest first. */
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
