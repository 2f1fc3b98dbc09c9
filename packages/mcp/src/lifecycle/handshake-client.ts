import { LocalError } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { methods, notifications } from "../protocol/methods.js";
import { handshakeVersions, revisionOf } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import type { ClientIdentity, Opened, ServerDescription } from "./opened.js";
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
  const params = {
    protocolVersion: options.revision.version,
    capabilities: me.capabilities,
    clientInfo: options.revision.down("params", methods.initialize, me.info),
  };
  const { timeout } = options;
  const result = objectResult(
    methods.initialize,
    await remote.call(methods.initialize, params as JsonObject, {
      cancellable: false, // The specification forbids it.
      ...(timeout === undefined ? {} : { timeout }),
    }),
  );
  const revision = agreedRevision(result);
  options.onAgreement(revision);
  remote.notify(notifications.initialized);
  const withProgressToken = progressTokens();
  return {
    revision,
    server: describe(result),
    notify: (method, given) => remote.notify(method, given),
    async call(method, given = {}, callOptions: CallOptions = {}) {
      const [asked, how] = withProgressToken(given, callOptions);
      const sent = Object.keys(asked).length === 0 ? undefined : asked;
      return objectResult(method, await remote.call(method, sent, how));
    },
  };
}

function agreedRevision({ protocolVersion }: JsonObject): Revision {
  const revision = typeof protocolVersion === "string" ? revisionOf(protocolVersion) : undefined;
  if (revision?.era === "handshake") return revision;
  const known = handshakeVersions.join(", ");
  throw new LocalError("protocol", `initialize: the server speaks ${shown(protocolVersion)}, this side ${known}`);
}

function describe({ serverInfo, capabilities, instructions }: JsonObject): ServerDescription {
  return {
    info: isObject(serverInfo) ? (serverInfo as unknown as ServerDescription["info"]) : undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}
