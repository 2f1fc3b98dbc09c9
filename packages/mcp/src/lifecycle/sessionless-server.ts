import { after } from "../base/later.js";
import type { Exchange } from "../jsonrpc/call.js";
import { methodNotFound } from "../jsonrpc/errors.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import { agreementOf, agreeOn, initializeResult, requireShortToken } from "./agreement.js";
import { RevisedOperation } from "./operation.js";
import { runOperation } from "./rounds.js";
import type { ClientDescription, Served } from "./served.js";

/**
 * Answers one request of the handshake era, of which nothing is remembered: `initialize` is answered, and whatever comes
 * after it stands for itself. What would need a memory is not promised: to tell of changes, to keep tasks, to log at a level
 * that was set before, to ask the client.
 */
export function callSessionless(
  served: Served,
  revision: Revision,
  method: string,
  params: JsonObject,
  exchange: Exchange,
): unknown {
  const { principal, peer } = exchange;
  const met = served.meet?.({ ...unknownClient, revision, principal, peer, conversation: undefined });
  const run = (other: Served): unknown => callMet(other, revision, method, params, exchange);
  return met === undefined ? run(served) : after(met, run);
}

function callMet(served: Served, revision: Revision, method: string, params: JsonObject, exchange: Exchange): unknown {
  const capabilities = memoryless(served.capabilities());
  if (method === methods.initialize) return initializeResult(served, agreeOn(params, false).revision, capabilities);
  if (method === methods.ping) return {};
  if (needMemory.has(method)) throw methodNotFound(method);
  const terms = { revision, client: unknownClient, logLevel: () => undefined };
  if (agreementOf(capabilities, terms).refused.has(method)) throw methodNotFound(method);
  requireShortToken(params);
  return runOperation(served, new RevisedOperation(exchange, terms, method, params));
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
