import { LocalError, RpcError } from "../jsonrpc/errors.js";
import { specCodes } from "../protocol/errors.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { handshakeVersions, revisionOf, statelessVersions } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import type { ClientIdentity, OpenedCall } from "./opened.js";
import type { ServerRemote } from "./remote-call.js";
import { discover, statelessCall } from "./stateless-client.js";

/** What a probe has found out about a server. */
export type Verdict =
  | {
      readonly era: "stateless";
      readonly revision: Revision;
      readonly discovered: JsonObject;
      readonly call: OpenedCall;
    }
  /** `answered`: the carrier has survived the question, so `initialize` can follow on it. */
  | { readonly era: "handshake"; readonly answered: boolean };

/** How the server took one `server/discover`. */
type Answer =
  | { readonly kind: "discovered"; readonly discovered: JsonObject; readonly call: OpenedCall }
  | { readonly kind: "unsupported"; readonly supported: readonly string[] }
  | { readonly kind: "other"; readonly answered: boolean };

/**
 * Finds out how a server wants to be spoken to: `server/discover` before anything else. Whatever is not an answer of
 * the stateless era, silence and exit included, means the handshake; no particular code does.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 *
 * @throws RpcError an error of the stateless era that no other version would mend; LocalError `protocol` when there is no common version
 */
export async function probe(
  remote: ServerRemote,
  me: ClientIdentity,
  preferred: Revision,
  timeout: number,
): Promise<Verdict> {
  const first = await ask(remote, me, preferred, timeout);
  if (first.kind !== "unsupported") return conclude(first, preferred);
  const next = common(first.supported);
  if (next.era === "handshake") return { era: "handshake", answered: true };
  // Once only: a server that refuses what it has just offered would be asked for ever.
  return conclude(await ask(remote, me, next, timeout), next);
}

async function ask(remote: ServerRemote, me: ClientIdentity, revision: Revision, timeout: number): Promise<Answer> {
  const call = statelessCall(remote, me, revision);
  try {
    return { kind: "discovered", discovered: await discover(call, { timeout, cancellable: false }), call };
  } catch (error) {
    if (error instanceof RpcError) return answerOfError(error);
    const answered = error instanceof LocalError && error.reason === "protocol";
    return { kind: "other", answered };
  }
}

/** Only a complete error of the stateless era counts as one: its codes occur elsewhere in the wild. */
function answerOfError(error: RpcError): Answer {
  const { code, data } = error;
  const supported = isObject(data) ? versionList(data.supported) : undefined;
  if (code === specCodes.unsupportedProtocolVersion && supported !== undefined)
    return { kind: "unsupported", supported };
  const needs =
    code === specCodes.missingRequiredClientCapability && isObject(data) && isObject(data.requiredCapabilities);
  if (needs) throw error;
  return { kind: "other", answered: true };
}

function conclude(answer: Answer, asked: Revision): Verdict {
  if (answer.kind === "other") return { era: "handshake", answered: answer.answered };
  if (answer.kind === "unsupported") throw noCommonVersion(answer.supported);
  const { discovered, call } = answer;
  const supported = versionList(discovered.supportedVersions);
  if (supported === undefined) return { era: "handshake", answered: true };
  const revision = supported.includes(asked.version) ? asked : common(supported);
  if (revision.era === "handshake") return { era: "handshake", answered: true };
  return { era: "stateless", revision, discovered, call };
}

/** The newest version of both sides; one of the stateless era before any other. */
function common(supported: readonly string[]): Revision {
  const version = [...statelessVersions, ...handshakeVersions].find((each) => supported.includes(each));
  const revision = version === undefined ? undefined : revisionOf(version);
  if (revision === undefined) throw noCommonVersion(supported);
  return revision;
}

function noCommonVersion(supported: readonly string[]): LocalError {
  const mine = [...statelessVersions, ...handshakeVersions].join(", ");
  return new LocalError(
    "protocol",
    `no common protocol version: the server speaks ${supported.join(", ") || "none"}, this side ${mine}`,
  );
}

function versionList(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
}
