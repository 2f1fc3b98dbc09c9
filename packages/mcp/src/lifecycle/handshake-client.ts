import { LocalError } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import type { JsonObject } from "../protocol/json.js";
import { methods, notifications } from "../protocol/methods.js";
import { handshakeVersions, revisionOf } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { type ClientIdentity, describeServer, type Opened, type OpenedCall } from "./opened.js";
import { objectResult, progressTokens, type ServerRemote, shown } from "./remote-call.js";

export interface HandshakeOptions {
  /** The revision to ask for. The server may settle on another one. */
  readonly revision: Revision;
  readonly timeout?: number;
  /** Told the revision before the conversation is confirmed. */
  onAgreement(revision: Revision): void;
}

/**
 * Opens a conversation with `initialize` and confirms it with `notifications/initialized`.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 *
 * @throws RpcError when the server refuses; LocalError `protocol` when it settles on a revision that nobody here speaks
 */
export async function openHandshake(
  remote: ServerRemote,
  me: ClientIdentity,
  options: HandshakeOptions,
): Promise<Opened> {
  const { timeout } = options;
  const result = objectResult(
    methods.initialize,
    await remote.call(methods.initialize, greeting(me, options.revision), {
      cancellable: false, // The specification forbids it.
      ...(timeout === undefined ? {} : { timeout }),
    }),
  );
  const revision = agreedRevision(result);
  options.onAgreement(revision);
  remote.notify(notifications.initialized);
  const call = handshakeCall(remote, revision);
  return {
    revision,
    server: describeServer(result.serverInfo, result),
    prior: { era: "handshake" },
    call,
    // A reshape of an object gives an object.
    notify: (method, params) =>
      remote.notify(method, revision.down("notification", method, params) as JsonObject | undefined),
    async setLogLevel(level, how) {
      await call(methods.setLevel, { level }, how);
    },
  };
}

function greeting({ info, answering }: ClientIdentity, revision: Revision): JsonObject {
  const params = {
    protocolVersion: revision.version,
    capabilities: answering.capabilities(revision),
    clientInfo: info,
  };
  return revision.down("params", methods.initialize, params) as JsonObject; // A reshape of an object gives an object.
}

function handshakeCall(remote: ServerRemote, revision: Revision): OpenedCall {
  const withProgressToken = progressTokens();
  return async (method, given = {}, options: CallOptions = {}) => {
    const shaped = revision.down("params", method, given) as JsonObject; // A reshape of an object gives an object.
    const [asked, how] = withProgressToken(shaped, options);
    const sent = Object.keys(asked).length === 0 ? undefined : asked;
    return objectResult(method, await remote.call(method, sent, how));
  };
}

function agreedRevision({ protocolVersion }: JsonObject): Revision {
  const revision = typeof protocolVersion === "string" ? revisionOf(protocolVersion) : undefined;
  if (revision?.era === "handshake") return revision;
  const known = handshakeVersions.join(", ");
  throw new LocalError("protocol", `initialize: the server speaks ${shown(protocolVersion)}, this side ${known}`);
}
