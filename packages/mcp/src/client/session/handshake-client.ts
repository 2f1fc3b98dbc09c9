import type { CallOptions } from "../../jsonrpc/calls/outgoing-call.js";
import { LocalError, RpcError } from "../../jsonrpc/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { methods, notifications } from "../../protocol/methods.js";
import { versionAliases } from "../../protocol/revisions/aliases.js";
import { handshakeVersions, latestHandshake, revisionOf } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { TransportOptions } from "../../session/options.js";
import { type ClientIdentity, describeServer, type SessionCall, type SessionCalls } from "./client-session.js";
import { supportedVersionsOf } from "./probe.js";
import { objectResult, progressTokens, quotedForMessage, type ServerRemote } from "./server-remote.js";

export interface InitializeOptions extends Pick<CallOptions, "timeout" | "signal"> {
  /** The revision to speak or none. Default: the newest; the server may settle on another one. */
  readonly revision?: Revision | undefined;
}

/**
 * Sends `initialize` and gives its result. A server that refuses the version and names others gets it once more, with the
 * newest of those that this side speaks.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 *
 * @throws RpcError when the server refuses; LocalError as `Connection.call`
 */
export async function sendInitialize(
  remote: ServerRemote,
  me: ClientIdentity,
  { revision, ...options }: InitializeOptions,
): Promise<JsonObject> {
  const send = async (asked: Revision): Promise<JsonObject> => {
    const how = { ...options, cancellable: false }; // The specification forbids it.
    return objectResult(methods.initialize, await remote.call(methods.initialize, greeting(me, asked), how));
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
 * Confirms what the server has answered to `initialize`, with `notifications/initialized`.
 * @param onNegotiated is called with the revision before the confirmation goes out
 * @throws LocalError `protocol` when the server settles on a revision that this side does not speak
 */
export function confirmInitialize(
  remote: ServerRemote,
  result: JsonObject,
  onNegotiated: (revision: Revision) => void,
  { lenient = false, report = () => undefined }: Pick<TransportOptions, "lenient" | "report">,
): SessionCalls {
  const revision = agreedRevision(result, lenient);
  const { protocolVersion } = result;
  if (protocolVersion !== revision.version) {
    const reason = `protocolVersion is ${quotedForMessage(protocolVersion)}: ${revision.version} is spoken`;
    report({ kind: "tolerated", method: methods.initialize, reason });
  }
  onNegotiated(revision);
  remote.notify(notifications.initialized);
  const call = handshakeCall(remote, revision);
  return {
    revision,
    server: describeServer(result.serverInfo, result),
    serverHint: { era: "handshake" },
    call,
    // A reshape of an object gives an object.
    notify: (method, params) =>
      remote.notify(method, revision.down("notification", method, params) as JsonObject | undefined),
    async setLogLevel(level, how) {
      await call(methods.setLevel, { level }, how);
    },
  };
}

function greeting({ info, responder }: ClientIdentity, revision: Revision): JsonObject {
  const params = {
    protocolVersion: revision.version,
    capabilities: responder.capabilities(revision),
    clientInfo: info,
  };
  return revision.down("params", methods.initialize, params) as JsonObject; // A reshape of an object gives an object.
}

function handshakeCall(remote: ServerRemote, revision: Revision): SessionCall {
  const withProgressToken = progressTokens();
  return async (method, given = {}, options: CallOptions = {}) => {
    const shaped = revision.down("params", method, given) as JsonObject; // A reshape of an object gives an object.
    const [asked, how] = withProgressToken(shaped, options);
    const sent = Object.keys(asked).length === 0 ? undefined : asked;
    return objectResult(method, await remote.call(method, sent, how));
  };
}

/** @param lenient takes a version that does not exist for the newest real one before it, and none at all for the oldest */
function agreedRevision({ protocolVersion }: JsonObject, lenient: boolean): Revision {
  const revision = typeof protocolVersion === "string" ? revisionOf(protocolVersion) : undefined;
  if (revision?.era === "handshake") return revision;
  const known = handshakeVersions.join(", ");
  const nearest = lenient ? revisionOf(nearestVersion(protocolVersion)) : undefined;
  if (nearest !== undefined) return nearest;
  throw new LocalError(
    "protocol",
    `initialize: the server speaks ${quotedForMessage(protocolVersion)}, this side ${known}`,
  );
}

function nearestVersion(version: unknown): string {
  const oldest = handshakeVersions.at(-1) ?? "";
  if (typeof version !== "string") return oldest;
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(version);
  return (
    versionAliases.get(version) ?? (isDate ? handshakeVersions.find((each) => each <= version) : undefined) ?? oldest
  );
}
