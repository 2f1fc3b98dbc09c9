import type { CallOptions } from "../../jsonrpc/calls/outgoing-call.js";
import { LocalError } from "../../jsonrpc/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { metaKeys, readMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { LoggingLevel } from "../../protocol/types/logging.js";
import { mayAskForInput } from "../../session/input-required.js";
import { type ClientIdentity, describeServer, type SessionCall, type SessionCalls } from "./client-session.js";
import { objectResult, progressTokens, quotedForMessage, type ServerRemote } from "./server-remote.js";

/** Calls that say for themselves what they speak, and which log messages they want. */
interface Speaker {
  readonly call: SessionCall;
  setLogLevel(level: LoggingLevel): void;
}

function speaker(remote: ServerRemote, { info, responder }: ClientIdentity, revision: Revision): Speaker {
  const withProgressToken = progressTokens();
  let own: JsonObject = {
    [metaKeys.protocolVersion]: revision.version,
    [metaKeys.clientInfo]: info,
    [metaKeys.clientCapabilities]: responder.capabilities(revision),
  };
  return {
    async call(method, params = {}, options: CallOptions = {}) {
      const [asked, how] = withProgressToken(params, options);
      const sent = { ...asked, _meta: { ...readMeta(asked), ...own } };
      return knownResult(method, objectResult(method, await remote.call(method, sent, how)));
    },
    setLogLevel(level) {
      own = { ...own, [metaKeys.logLevel]: level };
    },
  };
}

/** Absent is complete, for servers that forget it; a word that this side does not know makes the answer invalid. */
function knownResult(method: string, result: JsonObject): JsonObject {
  const { resultType = "complete" } = result;
  if (resultType === "complete" || (resultType === "input_required" && mayAskForInput.has(method))) return result;
  throw new LocalError(
    "protocol",
    `${method}: the server answered with resultType ${quotedForMessage(resultType)}, which this client did not offer`,
  );
}

/** A conversation with a server whose discovery is known. Nothing is sent for it. */
export function openStateless(
  remote: ServerRemote,
  me: ClientIdentity,
  revision: Revision,
  discovered: JsonObject,
): SessionCalls {
  const { call, setLogLevel } = speaker(remote, me, revision);
  return {
    revision,
    server: describeServer(readMeta(discovered)?.[metaKeys.serverInfo], discovered),
    serverHint: { era: "stateless", discovered },
    call,
    notify: (method, params) => remote.notify(method, params),
    async setLogLevel(level, { signal } = {}) {
      if (signal?.aborted !== true) return setLogLevel(level);
      throw new LocalError("cancelled", `${methods.setLevel}: cancelled by the caller`, { cause: signal.reason });
    },
  };
}

/** Sends `server/discover`. */
export function discover(
  remote: ServerRemote,
  me: ClientIdentity,
  revision: Revision,
  options: CallOptions,
): Promise<JsonObject> {
  return speaker(remote, me, revision).call(methods.discover, {}, options);
}
