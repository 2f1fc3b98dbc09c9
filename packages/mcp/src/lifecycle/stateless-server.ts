import { after } from "../base/later.js";
import type { Exchange } from "../jsonrpc/call.js";
import { invalidParams, methodNotFound, RpcError } from "../jsonrpc/errors.js";
import type { DiscoverResult } from "../protocol/discover.js";
import { specCodes } from "../protocol/errors.js";
import type { JsonObject } from "../protocol/json.js";
import { metaKeys, type RequestMeta, readRequestMeta } from "../protocol/meta.js";
import { isProtocolMethod, methods } from "../protocol/methods.js";
import { revisionOf, versions } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { shapeResult } from "./finish.js";
import type { OperationTerms } from "./operation.js";
import { runRound } from "./rounds.js";
import type { Served } from "./served.js";

/** What a request says for itself: the revision that it speaks, and of its caller. */
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
  return { revision, meta };
}

/** Whether a request of that revision could have an answer at all. */
export function knowsStateless(served: Served, method: string, { requests }: Revision): boolean {
  if (method === methods.discover) return true;
  return (requests.client.has(method) || !isProtocolMethod(method)) && served.knows(method);
}

/**
 * Answers one request that says for itself what it speaks. Nothing is remembered from one to the next.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic#statelessness
 *
 * @param terms what `readStateless` has found in the params
 */
export function callStateless(
  served: Served,
  method: string,
  params: JsonObject,
  exchange: Exchange,
  { revision, meta }: StatelessTerms = readStateless(params),
): unknown {
  if (isProtocolMethod(method) && !revision.requests.client.has(method)) throw methodNotFound(method);
  const client = { info: meta[metaKeys.clientInfo], capabilities: meta[metaKeys.clientCapabilities] };
  const terms = { revision, client, logLevel: () => meta[metaKeys.logLevel] };
  if (served.meet === undefined) return callMet(served, method, params, exchange, terms);
  const { principal, peer } = exchange;
  const met = served.meet({ ...terms.client, revision, principal, peer, conversation: undefined });
  return after(met, (other) => callMet(other, method, params, exchange, terms));
}

function callMet(
  served: Served,
  method: string,
  params: JsonObject,
  exchange: Exchange,
  terms: OperationTerms,
): unknown {
  if (method !== methods.discover) return runRound(served, exchange, terms, method, params);
  return shapeResult(discover(served), method, terms.revision, served.info);
}

function discover(served: Served): JsonObject {
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
