import { after } from "../base/later.js";
import type { Exchange } from "../jsonrpc/call.js";
import { methodNotFound } from "../jsonrpc/errors.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import { agreeOn, initializeResult, requireAgreed, runAgreed } from "./agreement.js";
import { promisedBy } from "./promised.js";
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
  const { promised, unpromised } = promisedBy(memoryless(served.capabilities()));
  if (method === methods.initialize) {
    return initializeResult(served, agreeOn(params, { lenient: false }).revision, promised);
  }
  if (method === methods.ping) return {};
  const agreement = {
    promised,
    unpromised,
    terms: { revision, client: unknownClient, logLevel: () => undefined },
  };
  requireAgreed(method, agreement);
  if (needMemory.has(method)) throw methodNotFound(method);
  return runAgreed(served, agreement, { method, params, exchange });
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
