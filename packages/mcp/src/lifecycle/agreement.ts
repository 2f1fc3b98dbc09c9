import { kindOf } from "../base/json.js";
import { after } from "../base/later.js";
import type { Exchange } from "../jsonrpc/call.js";
import { invalidParams, methodNotFound, type ParamsFault } from "../jsonrpc/errors.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { InitializeResult } from "../protocol/initialize.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { progressTokenFaults } from "../protocol/meta.js";
import { isProtocolMethod, methods } from "../protocol/methods.js";
import { versionAliases } from "../revisions/aliases.js";
import { latestHandshake, revisionOf } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { finish } from "./finish.js";
import type { OperationTerms } from "./operation.js";
import type { Promised } from "./promised.js";
import { runAsking } from "./rounds.js";
import type { ClientDescription, Served } from "./served.js";

/** How strictly a server takes what it hears. */
export interface Manners {
  readonly lenient: boolean;
}

/** What the peers have settled on. */
export interface Agreement extends Promised {
  readonly terms: OperationTerms;
}

/**
 * What an `initialize` comes to: the revision that it asks for, or the newest one that has a handshake.
 * @throws RpcError −32602
 */
export function agreeOn(
  params: JsonObject,
  { lenient }: Manners,
): { readonly revision: Revision; readonly client: ClientDescription } {
  const faults = initializeFaults(params);
  if (faults.length > 0) throw invalidParams("Invalid params", faults);
  const { protocolVersion, capabilities, clientInfo } = params;
  const version = protocolVersion as string;
  const asked = revisionOf((lenient ? versionAliases.get(version) : undefined) ?? version);
  // The faults were looked for just above.
  const client = { info: clientInfo, capabilities } as ClientDescription;
  return { revision: asked?.era === "handshake" ? asked : latestHandshake, client };
}

export function initializeResult(
  { info, instructions }: Served,
  revision: Revision,
  capabilities: ServerCapabilities,
): InitializeResult {
  const result: InitializeResult = {
    protocolVersion: revision.version,
    capabilities,
    serverInfo: info,
    ...(instructions === undefined ? {} : { instructions }),
  };
  return revision.down("result", methods.initialize, result) as InitializeResult; // Its members stay.
}

/** @throws RpcError −32601 for what the revision does not have, or the client was not promised */
export function requireAgreed(method: string, { unpromised, terms: { revision } }: Agreement): void {
  if (isProtocolMethod(method) && !revision.requests.client.has(method)) throw methodNotFound(method);
  if (unpromised.has(method)) throw methodNotFound(method);
}

interface AgreedCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly exchange: Exchange;
  /** What happens as soon as the server has agreed to it. */
  readonly follow?: ((result: unknown) => unknown) | undefined;
}

/** Runs an operation on the terms of its conversation. */
export function runAgreed(
  served: Served,
  { terms }: Agreement,
  { method, params, exchange, follow }: AgreedCall,
): unknown {
  const faults = progressTokenFaults(params);
  if (faults.length > 0) throw invalidParams("Invalid params", faults);
  const run = (): unknown => {
    const result = runAsking(served.run, method, params, { exchange, terms });
    return follow === undefined ? result : after(result, follow);
  };
  return finish(run, method, terms.revision, served.info);
}

function initializeFaults({ protocolVersion, capabilities, clientInfo }: JsonObject): readonly ParamsFault[] {
  const faults: ParamsFault[] = [];
  const expect = (holds: boolean, path: string, what: string, value: unknown): void => {
    if (!holds) faults.push({ path, message: `must be ${what}, got ${kindOf(value)}` });
  };
  expect(typeof protocolVersion === "string", "/protocolVersion", "a string", protocolVersion);
  expect(isObject(capabilities), "/capabilities", "an object", capabilities);
  expect(isObject(clientInfo), "/clientInfo", "an object", clientInfo);
  if (isObject(clientInfo)) {
    expect(typeof clientInfo.name === "string", "/clientInfo/name", "a string", clientInfo.name);
    expect(typeof clientInfo.version === "string", "/clientInfo/version", "a string", clientInfo.version);
  }
  return faults;
}
