import { isObject, type JsonObject } from "../../base/json.js";
import type { CallOptions } from "../../jsonrpc/call.js";
import { LocalError, RpcError } from "../../jsonrpc/errors.js";
import { excerpt, type Reporter } from "../../jsonrpc/report.js";
import { specCodes } from "../../protocol/errors.js";
import { methods } from "../../protocol/methods.js";
import { versionAliases } from "../../protocol/revisions/aliases.js";
import { handshakeVersions, latestHandshake, revisionOf, statelessVersions } from "../../protocol/revisions/all.js";
import type { Era, Revision } from "../../protocol/revisions/revision.js";
import { type ClientIdentity, discover, objectResult, quotedForMessage, type ServerRemote } from "./client-session.js";

// Version negotiation: one request per era, and the revision that follows from its response.

/** Result of a probe. */
export type ProbeResult =
  | { readonly era: "stateless"; readonly revision: Revision; readonly discovered: JsonObject }
  | NotStateless;

/** A server that needs a handshake. */
export interface NotStateless {
  readonly era: "handshake";
  /** Whether the channel is still open, so that `initialize` can follow on it. */
  readonly answered: boolean;
  /** The reason, for the error message. */
  readonly why: LocalError;
}

/** A stateless server that refused the version of the probe. */
interface VersionRefused {
  /** The versions that it offers instead. */
  readonly supported: readonly string[];
}

/** Options of a probe. */
export interface ProbeOptions extends Pick<CallOptions, "timeout" | "signal"> {
  /** Called when the probe has a response, or will get none. */
  readonly onOutcome?: () => void;
}

/**
 * Detects the era of a server: sends `server/discover` before anything else. Anything but a response of the stateless era
 * means the handshake era, including silence and a closed channel: older servers treat unknown methods in many ways.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 *
 * @throws RpcError an error of the stateless era that another version would not avoid; LocalError `protocol` without a
 * common version
 */
export async function probe(
  remote: ServerRemote,
  me: ClientIdentity,
  preferred: Revision,
  options: ProbeOptions,
): Promise<ProbeResult> {
  const first = await sendDiscover(remote, me, preferred, options);
  if (!("supported" in first)) return first;
  const next = newestCommon(first.supported);
  if (next.era === "handshake") return notStateless(speaks(first.supported));
  const second = await sendDiscover(remote, me, next, options);
  if (!("supported" in second)) return second;
  // Only once: a server that rejects its own offer would cause an endless loop.
  throw new LocalError("protocol", `the server offers protocol version ${next.version}, and refuses it`);
}

async function sendDiscover(
  remote: ServerRemote,
  me: ClientIdentity,
  revision: Revision,
  { onOutcome = () => undefined, ...options }: ProbeOptions,
): Promise<ProbeResult | VersionRefused> {
  // Observes the call itself: responses in one chunk settle their calls in order, but not promises derived from them.
  const watched: ServerRemote = {
    notify: (method, params) => remote.notify(method, params),
    call(method, params, how) {
      const outcome = remote.call(method, params, how);
      outcome.then(onOutcome, onOutcome);
      return outcome;
    },
  };
  let discovered: JsonObject;
  try {
    discovered = await discover(watched, me, revision, { ...options, cancellable: false });
  } catch (error) {
    if (error instanceof RpcError) return resultOfError(error);
    // A request that this side cannot send says nothing about the server.
    if (!(error instanceof LocalError) || error.reason === "refused") throw error;
    return { era: "handshake", answered: error.reason === "protocol", why: error };
  }
  return probeResult(discovered, revision);
}

/** Recognises errors of the stateless era by code and data: other servers use the same codes for other errors. */
function resultOfError(error: RpcError): NotStateless | VersionRefused {
  const { code, message, data } = error;
  const supported = supportedVersionsOf(error);
  if (supported !== undefined) return { supported };
  const needs =
    code === specCodes.missingRequiredClientCapability && isObject(data) && isObject(data.requiredCapabilities);
  if (needs) throw error;
  return notStateless(`it answered ${methods.discover} with ${code} ${excerpt(message)}`, { cause: error });
}

/** The versions that an `UnsupportedProtocolVersion` error lists; undefined for any other error. */
export function supportedVersionsOf({ code, data }: RpcError): readonly string[] | undefined {
  return code === specCodes.unsupportedProtocolVersion && isObject(data) ? versionList(data.supported) : undefined;
}

/**
 * The result of a probe, from the result of `server/discover`.
 * @throws LocalError `protocol` without a common version
 */
export function probeResult(discovered: JsonObject, requested: Revision): ProbeResult {
  const supported = versionList(discovered.supportedVersions);
  if (supported === undefined) return notStateless(`its answer to ${methods.discover} lists no versions`);
  const revision = supported.includes(requested.version) ? requested : newestCommon(supported);
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
function newestCommon(supported: readonly string[]): Revision {
  const mine = [...statelessVersions, ...handshakeVersions];
  const version = mine.find((each) => supported.includes(each));
  const revision = version === undefined ? undefined : revisionOf(version);
  if (revision !== undefined) return revision;
  throw new LocalError(
    "protocol",
    `no common protocol version with the server: ${speaks(supported)}, this side ${mine.join(", ")}`,
  );
}

function versionList(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
}

/** Options of `initialize`. */
export interface InitializeOptions extends Pick<CallOptions, "signal"> {
  /** The only revision to offer. Default: the newest; the server may settle on another one. */
  readonly revision?: Revision | undefined;
}

/**
 * Sends `initialize` and returns its result. If the server rejects the version and lists others, sends it once more with
 * the newest common one.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 *
 * @throws RpcError when the server refuses; LocalError as `Connection.call`
 */
export async function sendInitialize(
  remote: ServerRemote,
  { info, responder }: ClientIdentity,
  { revision, ...options }: InitializeOptions,
): Promise<JsonObject> {
  const send = async (offered: Revision): Promise<JsonObject> => {
    const capabilities = responder.capabilities(offered);
    const params = { protocolVersion: offered.version, capabilities, clientInfo: info };
    const shaped = offered.down("params", methods.initialize, params);
    const how = { ...options, cancellable: false }; // The specification forbids it.
    return objectResult(methods.initialize, await remote.call(methods.initialize, shaped, how));
  };
  try {
    return await send(revision ?? latestHandshake);
  } catch (error) {
    const supported = error instanceof RpcError && revision === undefined ? supportedVersionsOf(error) : undefined;
    const next = handshakeVersions.find((version) => supported?.includes(version));
    const other = next === undefined ? undefined : revisionOf(next);
    if (other === undefined || other === latestHandshake) throw error;
    return send(other);
  }
}

/**
 * The revision that an `initialize` result selects. A lenient client replaces an unknown version by the newest one before
 * it, and a missing one by the oldest, with a report.
 * @throws LocalError `protocol` when the server selects a revision that this side does not know
 */
export function negotiatedRevision({ protocolVersion }: JsonObject, lenient: boolean, report: Reporter): Revision {
  const revision = typeof protocolVersion === "string" ? revisionOf(protocolVersion) : undefined;
  if (revision?.era === "handshake") return revision;
  const selected = quotedForMessage(protocolVersion);
  const nearest = lenient ? revisionOf(nearestVersion(protocolVersion)) : undefined;
  if (nearest === undefined) {
    const known = handshakeVersions.join(", ");
    throw new LocalError("protocol", `initialize: the server speaks ${selected}, this side ${known}`);
  }
  const reason = `protocolVersion is ${selected}: ${nearest.version} is spoken`;
  report({ kind: "tolerated", method: methods.initialize, reason });
  return nearest;
}

function nearestVersion(version: unknown): string {
  const oldest = handshakeVersions.at(-1) ?? "";
  if (typeof version !== "string") return oldest;
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(version);
  return (
    versionAliases.get(version) ?? (isDate ? handshakeVersions.find((each) => each <= version) : undefined) ?? oldest
  );
}

/** @throws LocalError `protocol` if `required` is another revision */
export function requireRevision(required: Revision | undefined, offered: Revision): void {
  if (required !== undefined && required !== offered) throw notSpoken(required.version, `it offers ${offered.version}`);
}

/** Allows the fallback to a handshake. @throws LocalError if the options require the stateless era */
export function requireHandshakeAllowed(
  { revision, era }: { readonly revision?: Revision; readonly era?: Era },
  { answered, why }: NotStateless,
): void {
  const required = revision?.version ?? (era === "stateless" ? `a revision of the ${era} era` : undefined);
  if (required !== undefined) throw answered ? notSpoken(required, why.message) : why;
}

function notSpoken(required: string, why: string): LocalError {
  return new LocalError("protocol", `the server does not speak ${required}: ${why}`);
}
