import { andThen } from "../../base/maybe-promise.js";
import type { Exchange } from "../../jsonrpc/call.js";
import { invalidParams, methodNotFound, RpcError } from "../../jsonrpc/errors.js";
import { specCodes } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { metaKeys, type RequestMeta, readRequestMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import { isProtocolMethod, revisionOf, versions } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { DiscoverResult } from "../../protocol/types/discover.js";
import { runRound } from "../input/rounds.js";
import type { Servable } from "../servable.js";
import { shapeResult } from "./finish-result.js";
import type { OperationSettings } from "./operation-of-revision.js";

/** The settings in the `_meta` of a stateless request: its revision and its client. */
export interface StatelessTerms {
  readonly revision: Revision;
  readonly meta: RequestMeta;
}

/** @throws RpcError −32602 for a `_meta` that is incomplete, −32022 for a revision that is not of this era */
export function readStateless(params: JsonObject): StatelessTerms {
  const reading = readRequestMeta(params);
  if ("faults" in reading) throw invalidParams("Invalid params", reading.faults);
  const { meta } = reading;
  const revision = revisionOf(meta[metaKeys.protocolVersion]);
  if (revision?.era !== "stateless") throw unsupportedVersion(meta);
  const { _meta } = revision.up("params", methods.discover, { _meta: meta });
  return { revision, meta: _meta };
}

/** Whether a request of that revision could have an answer at all. */
export function hasStatelessMethod(served: Servable, method: string, { requests }: Revision): boolean {
  if (method === methods.discover) return true;
  return (requests.client.has(method) || !isProtocolMethod(method)) && served.hasMethod(method);
}

/**
 * Handles one stateless request. No state is kept between requests.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic#statelessness
 *
 * @param terms what `readStateless` has found in the params
 */
export function callStateless(
  served: Servable,
  method: string,
  params: JsonObject,
  exchange: Exchange,
  { revision, meta }: StatelessTerms = readStateless(params),
): unknown {
  if (isProtocolMethod(method) && !revision.requests.client.has(method)) throw methodNotFound(method);
  const client = { info: meta[metaKeys.clientInfo], capabilities: meta[metaKeys.clientCapabilities] };
  const terms = { revision, client, logLevel: () => meta[metaKeys.logLevel] };
  const newest = revision.up("params", method, params);
  if (served.serverFor === undefined) return callMet(served, method, newest, exchange, terms);
  const { principal, peer } = exchange;
  const met = served.serverFor({ ...terms.client, revision, principal, peer, session: undefined });
  return andThen(met, (other) => callMet(other, method, newest, exchange, terms));
}

function callMet(
  served: Servable,
  method: string,
  params: JsonObject,
  exchange: Exchange,
  terms: OperationSettings,
): unknown {
  if (method !== methods.discover) return runRound(served, exchange, terms, method, params);
  return shapeResult(discover(served), method, terms.revision, served.info);
}

function discover(served: Servable): JsonObject {
  const { instructions } = served;
  const result: DiscoverResult = {
    supportedVersions: versions,
    capabilities: served.capabilities(),
    ...(instructions === undefined ? {} : { instructions }),
  };
  return result as unknown as JsonObject; // An interface has no index signature; JSON objects do.
}

function unsupportedVersion(meta: RequestMeta): RpcError {
  const requested = meta[metaKeys.protocolVersion];
  return new RpcError(specCodes.unsupportedProtocolVersion, "Unsupported protocol version", {
    supported: versions,
    requested,
  });
}
