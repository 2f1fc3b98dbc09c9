import { LocalError } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import type { ClientIdentity, Opened, OpenedCall, ServerDescription } from "./opened.js";
import { objectResult, progressTokens, type ServerRemote, shown } from "./remote-call.js";

/** Calls that say for themselves what they speak. */
export function statelessCall(remote: ServerRemote, me: ClientIdentity, revision: Revision): OpenedCall {
  const withProgressToken = progressTokens();
  const own = {
    [metaKeys.protocolVersion]: revision.version,
    [metaKeys.clientInfo]: me.info,
    [metaKeys.clientCapabilities]: me.capabilities,
  };
  return async (method, params = {}, options: CallOptions = {}) => {
    const [asked, how] = withProgressToken(params, options);
    const sent = { ...asked, _meta: { ...readMeta(asked), ...own } };
    return completeResult(method, objectResult(method, await remote.call(method, sent, how)));
  };
}

/** Absent is complete, for servers that forget it; a word that this side does not know makes the answer invalid. */
function completeResult(method: string, result: JsonObject): JsonObject {
  const { resultType = "complete" } = result;
  if (resultType === "complete") return result;
  throw new LocalError(
    "protocol",
    `${method}: the server answered with resultType ${shown(resultType)}, which this client did not offer`,
  );
}

/** A conversation with a server whose discovery is known. */
export function openStateless(
  remote: ServerRemote,
  call: OpenedCall,
  revision: Revision,
  discovered: JsonObject,
): Opened {
  return { revision, server: describe(discovered), call, notify: (method, params) => remote.notify(method, params) };
}

/** Asks what the server speaks and offers: `server/discover`. */
export function discover(call: OpenedCall, options: CallOptions): Promise<JsonObject> {
  return call(methods.discover, {}, options);
}

function describe(discovered: JsonObject): ServerDescription {
  const { capabilities, instructions } = discovered;
  const info = readMeta(discovered)?.[metaKeys.serverInfo];
  return {
    info: isObject(info) ? (info as unknown as ServerDescription["info"]) : undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}
