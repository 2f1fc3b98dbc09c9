import { type Era, publish, type Revision } from "./revision.js";
import { v2024_11_05 } from "./v2024-11-05.js";
import { v2025_03_26 } from "./v2025-03-26.js";
import { v2025_06_18 } from "./v2025-06-18.js";
import { v2025_11_25 } from "./v2025-11-25.js";
import { v2026_07_28 } from "./v2026-07-28.js";

/** The newest revision. Its shapes are the internal form of messages. */
export const latest: Revision = publish(v2026_07_28);

/** The newest revision with an `initialize` handshake. */
export const latestHandshake: Revision = publish(v2025_11_25, [v2026_07_28]);

/** Every published revision, oldest first. */
export const revisions: readonly Revision[] = [
  publish(v2024_11_05, [v2026_07_28, v2025_11_25, v2025_06_18, v2025_03_26]),
  publish(v2025_03_26, [v2026_07_28, v2025_11_25, v2025_06_18]),
  publish(v2025_06_18, [v2026_07_28, v2025_11_25]),
  latestHandshake,
  latest,
];

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

const newestFirst = revisions.toReversed();

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

function requireRevision(isMeant: (revision: Revision) => boolean): Revision {
  const revision = revisions.find(isMeant);
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
