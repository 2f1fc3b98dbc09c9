import { andThen } from "../../base/maybe-promise.js";
import type { Exchange } from "../../jsonrpc/call.js";
import { methodNotFound } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import { runOperation } from "../input/rounds.js";
import type { ClientDescription, Servable } from "../servable.js";
import { agreementOf, initializeResult, negotiate, requireShortToken } from "./negotiated-session.js";
import { OperationOfRevision } from "./operation-of-revision.js";

/**
 * Answers one request of the handshake era, of which nothing is remembered: `initialize` is answered, and whatever comes
 * after it stands for itself. What would need a memory is not promised: to tell of changes, to keep tasks, to log at a level
 * that was set before, to ask the client.
 */
export function callSessionless(
  served: Servable,
  revision: Revision,
  method: string,
  params: JsonObject,
  exchange: Exchange,
): unknown {
  const { principal, peer } = exchange;
  const met = served.serverFor?.({ ...unknownClient, revision, principal, peer, session: undefined });
  const run = (other: Servable): unknown => callMet(other, revision, method, params, exchange);
  return met === undefined ? run(served) : andThen(met, run);
}

function callMet(
  served: Servable,
  revision: Revision,
  method: string,
  params: JsonObject,
  exchange: Exchange,
): unknown {
  const capabilities = memoryless(served.capabilities());
  if (method === methods.initialize) return initializeResult(served, negotiate(params, false).revision, capabilities);
  if (method === methods.ping) return {};
  if (needMemory.has(method)) throw methodNotFound(method);
  const terms = { revision, client: unknownClient, logLevel: () => undefined };
  if (agreementOf(capabilities, terms).refused.has(method)) throw methodNotFound(method);
  requireShortToken(params);
  return runOperation(served, new OperationOfRevision(exchange, terms, method, revision.up("params", method, params)));
}

const unknownClient: ClientDescription = { info: undefined, capabilities: {} };

const needMemory: ReadonlySet<string> = new Set([methods.setLevel, methods.subscribe, methods.unsubscribe]);

function memoryless(offered: ServerCapabilities): ServerCapabilities {
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
