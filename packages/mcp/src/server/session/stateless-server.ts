import { andThen } from "../../base/maybe-promise.js";
import type { Exchange } from "../../jsonrpc/call.js";
import { invalidParams, methodNotFound, RpcError } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { specCodes } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { metaKeys, type RequestMeta, readRequestMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import { isProtocolMethod, revisionOf, versions } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { DiscoverResult } from "../../protocol/types/discover.js";
import type { ClientDescription, Servable } from "../servable.js";
import { agreementOf, initializeResult, negotiate, requireShortToken } from "./negotiated-session.js";
import { OperationOfRevision, runOperation, runRound, shapeResult } from "./operation.js";

/** A stateless request in the newest shape, with the revision that it declares. */
export interface StatelessRequest {
  readonly revision: Revision;
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: RequestMeta;
}

/** @throws RpcError −32602 for a `_meta` that is incomplete, −32022 for a revision that is not of this era */
export function readStateless(method: string, params: JsonObject): StatelessRequest {
  const reading = readRequestMeta(params);
  if ("faults" in reading) throw invalidParams("Invalid params", reading.faults);
  const { meta } = reading;
  const revision = revisionOf(meta[metaKeys.protocolVersion]);
  if (revision?.era !== "stateless") throw unsupportedVersion(meta);
  const newest = revision.up("params", method, params);
  return { revision, method, params: newest, meta: newest._meta as RequestMeta }; // Checked above.
}

/** Whether the server has the method in a revision. */
export function hasStatelessMethod(server: Servable, method: string, { requests }: Revision): boolean {
  if (method === methods.discover) return true;
  return (requests.client.has(method) || !isProtocolMethod(method)) && server.hasMethod(method);
}

/**
 * Handles one stateless request. No state is kept between requests.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic#statelessness
 *
 * @param request the result of `readStateless`
 */
export function callStateless(
  server: Servable,
  { revision, method, params, meta }: StatelessRequest,
  exchange: Exchange,
): unknown {
  if (!revision.requests.client.has(method) && isProtocolMethod(method)) throw methodNotFound(method);
  const client = { info: meta[metaKeys.clientInfo], capabilities: meta[metaKeys.clientCapabilities] };
  const settings = { revision, client, logLevel: () => meta[metaKeys.logLevel] };
  if (server.serverFor === undefined && method !== methods.discover)
    return runRound(server, exchange, settings, method, params);
  const { principal, peer } = exchange;
  const target = server.serverFor?.({ ...client, revision, principal, peer, session: undefined }) ?? server;
  return andThen(target, (found) =>
    method === methods.discover
      ? shapeResult(discover(found), method, revision, found.info)
      : runRound(found, exchange, settings, method, params),
  );
}

function discover(server: Servable): JsonObject {
  const { instructions } = server;
  const result: DiscoverResult = {
    supportedVersions: versions,
    capabilities: server.capabilities(),
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

/**
 * Handles one request of the handshake era without a session: `initialize` gets a result, and every later request stands alone. The
 * capabilities that need a session are not advertised: change notifications, tasks, log levels, requests to the client.
 */
export function callSessionless(
  server: Servable,
  revision: Revision,
  method: string,
  params: JsonObject,
  exchange: Exchange,
): unknown {
  const { principal, peer } = exchange;
  const chosen = server.serverFor?.({ ...unknownClient, revision, principal, peer, session: undefined }) ?? server;
  return andThen(chosen, (target) => {
    const capabilities = sessionlessCapabilities(target.capabilities());
    if (method === methods.initialize) return initializeResult(target, negotiate(params, false).revision, capabilities);
    if (method === methods.ping) return {};
    const settings = { revision, client: unknownClient, logLevel: () => undefined };
    if (sessionOnly.has(method) || agreementOf(capabilities, settings).refused.has(method))
      throw methodNotFound(method);
    requireShortToken(params);
    return runOperation(
      target,
      new OperationOfRevision(exchange, settings, method, revision.up("params", method, params)),
    );
  });
}

const unknownClient: ClientDescription = { info: undefined, capabilities: {} };

const sessionOnly: ReadonlySet<string> = new Set([methods.setLevel, methods.subscribe, methods.unsubscribe]);

function sessionlessCapabilities(offered: ServerCapabilities): ServerCapabilities {
  const { tools, prompts, resources, completions, extensions, experimental } = offered;
  return {
    ...(tools && { tools: {} }),
    ...(prompts && { prompts: {} }),
    ...(resources && { resources: {} }),
    ...(completions && { completions }),
    ...(extensions && { extensions }),
    ...(experimental && { experimental }),
  };
}
