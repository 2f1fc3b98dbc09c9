import type { CallOptions } from "../../jsonrpc/calls/outgoing-call.js";
import { LocalError, RpcError } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { specCodes } from "../../protocol/errors.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import { handshakeVersions, revisionOf, statelessVersions } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { ClientIdentity } from "./client-session.js";
import type { ServerRemote } from "./server-remote.js";
import { discover } from "./stateless-client.js";

/** Result of a probe. */
export type ProbeResult =
  | { readonly era: "stateless"; readonly revision: Revision; readonly discovered: JsonObject }
  | NotStateless;

/** A server that needs a handshake. */
export interface NotStateless {
  readonly era: "handshake";
  /** The channel is still open, so `initialize` can follow on it. */
  readonly answered: boolean;
  /** The reason, for the error message. */
  readonly why: LocalError;
}

/** How the server took one `server/discover`. */
type Answer =
  | { readonly kind: "discovered"; readonly discovered: JsonObject }
  | { readonly kind: "unsupported"; readonly supported: readonly string[] }
  | { readonly kind: "other"; readonly verdict: NotStateless };

/** Options of a probe. */
export interface ProbeOptions extends Pick<CallOptions, "timeout" | "signal"> {
  /** Called when the probe has a response, or will get none. */
  readonly onOutcome?: () => void;
}

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
  options: ProbeOptions,
): Promise<ProbeResult> {
  const first = await ask(remote, me, preferred, options);
  if (first.kind !== "unsupported") return conclude(first, preferred);
  const next = common(first.supported);
  if (next.era === "handshake") return notStateless(speaks(first.supported));
  const second = await ask(remote, me, next, options);
  if (second.kind !== "unsupported") return conclude(second, next);
  // Only once: a server that rejects its own offer would cause an endless loop.
  throw new LocalError("protocol", `the server offers protocol version ${next.version}, and refuses it`);
}

async function ask(
  remote: ServerRemote,
  me: ClientIdentity,
  revision: Revision,
  { onOutcome = () => undefined, ...options }: ProbeOptions,
): Promise<Answer> {
  // Listens to the call itself: responses in one chunk settle their calls in order, but not what is built on the calls.
  const watched: ServerRemote = {
    notify: (method, params) => remote.notify(method, params),
    call(method, params, how) {
      const outcome = remote.call(method, params, how);
      outcome.then(onOutcome, onOutcome);
      return outcome;
    },
  };
  try {
    const how = { ...options, cancellable: false };
    return { kind: "discovered", discovered: await discover(watched, me, revision, how) };
  } catch (error) {
    if (error instanceof RpcError) return answerOfError(error);
    // What this side cannot send says nothing of the server.
    if (!(error instanceof LocalError) || error.reason === "refused") throw error;
    return { kind: "other", verdict: { era: "handshake", answered: error.reason === "protocol", why: error } };
  }
}

/** Only a complete error of the stateless era counts as one: its codes occur elsewhere in the wild. */
function answerOfError(error: RpcError): Answer {
  const { code, message, data } = error;
  const supported = supportedVersionsOf(error);
  if (supported !== undefined) return { kind: "unsupported", supported };
  const needs =
    code === specCodes.missingRequiredClientCapability && isObject(data) && isObject(data.requiredCapabilities);
  if (needs) throw error;
  const why = `it answered ${methods.discover} with ${code} ${excerpt(message)}`;
  return { kind: "other", verdict: notStateless(why, { cause: error }) };
}

/** The versions that an `UnsupportedProtocolVersion` error lists; undefined for any other error. */
export function supportedVersionsOf({ code, data }: RpcError): readonly string[] | undefined {
  return code === specCodes.unsupportedProtocolVersion && isObject(data) ? versionList(data.supported) : undefined;
}

function conclude(answer: Exclude<Answer, { kind: "unsupported" }>, asked: Revision): ProbeResult {
  return answer.kind === "other" ? answer.verdict : probeResult(answer.discovered, asked);
}

/**
 * What the answer to `server/discover` says.
 * @throws LocalError `protocol` when there is no common version
 */
export function probeResult(discovered: JsonObject, asked: Revision): ProbeResult {
  const supported = versionList(discovered.supportedVersions);
  if (supported === undefined) return notStateless(`its answer to ${methods.discover} lists no versions`);
  const revision = supported.includes(asked.version) ? asked : common(supported);
  if (revision.era === "handshake") return notStateless(speaks(supported));
  return { era: "stateless", revision, discovered };
}

function notStateless(why: string, options?: ErrorOptions): NotStateless {
  return { era: "handshake", answered: true, why: new LocalError("protocol", why, options) };
}

function speaks(supported: readonly string[]): string {
  return `it speaks ${supported.length === 0 ? "none" : excerpt(supported.join(", "))}`;
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
    `no common protocol version with the server: ${speaks(supported)}, this side ${mine}`,
  );
}

function versionList(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
}
