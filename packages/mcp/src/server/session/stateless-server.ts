import type { JsonObject } from "../../base/json.js";
import { andThen } from "../../base/maybe-promise.js";
import type { Call, Exchange } from "../../jsonrpc/call.js";
import { faultyParams, methodNotFound, RpcError } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { specCodes } from "../../protocol/errors.js";
import { metaKeys, type RequestMeta, readRequestMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import { isProtocolMethod, revisionOf, versions } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { DiscoverResult } from "../../protocol/types/discover.js";
import type { ClientDescription, Servable } from "../servable.js";
import { initializeResult, negotiate, offerOf, requireShortToken } from "./negotiated-session.js";
import { OperationOfRevision, runOperation, runRound, shapeResult } from "./operation.js";

/** A stateless request that was read. */
export interface StatelessRequest {
  /** Whether its revision has the method, or leaves it to extensions. */
  readonly isDefined: boolean;
  /** Handles it, and no other request. No state is kept between requests. */
  readonly call: Call;
}

/**
 * Reads a request of a stateless revision.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic#statelessness
 *
 * @throws RpcError −32602 for a `_meta` that is incomplete, −32022 for a revision that is not of this era
 */
export function readStateless(server: Servable, method: string, given: JsonObject): StatelessRequest {
  const reading = readRequestMeta(given);
  if ("faults" in reading) throw faultyParams(...reading.faults);
  const revision = revisionOf(reading.meta[metaKeys.protocolVersion]);
  if (revision?.era !== "stateless") throw unsupportedVersion(reading.meta);
  const isDefined = revision.requests.client.has(method) || !isProtocolMethod(method);
  return {
    isDefined,
    call(_method, _params, exchange) {
      if (!isDefined) throw methodNotFound(method);
      const params = revision.up("params", method, given);
      const meta = params._meta as RequestMeta; // Checked above.
      const client = { info: meta[metaKeys.clientInfo], capabilities: meta[metaKeys.clientCapabilities] };
      const settings = { revision, client, logLevel: meta[metaKeys.logLevel] };
      if (server.serverFor === undefined && method !== methods.discover)
        return runRound(server, exchange, settings, method, params);
      const { principal, peer } = exchange;
      const target = server.serverFor?.({ ...client, revision, principal, peer, session: undefined }) ?? server;
      return andThen(target, (found) =>
        method === methods.discover
          ? shapeResult(discover(found), method, revision, found.info)
          : runRound(found, exchange, settings, method, params),
      );
    },
  };
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
    const settings = { revision, client: unknownClient, logLevel: undefined };
    if (sessionOnly.has(method) || offerOf(capabilities, revision).refused.has(method)) throw methodNotFound(method);
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
