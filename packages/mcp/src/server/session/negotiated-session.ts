import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import { faultyParams, type ParamsFault } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { progressTokenFaults, readMeta } from "../../protocol/meta.js";
import { isAdvertised, methodCapabilities } from "../../protocol/method-capabilities.js";
import { methods } from "../../protocol/methods.js";
import { versionAliases } from "../../protocol/revisions/aliases.js";
import { latestHandshake, protocolRequests, revisionOf } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { InitializeResult } from "../../protocol/types/initialize.js";
import type { LoggingLevel } from "../../protocol/types/logging.js";
import type { ClientDescription, Servable, ServedSession } from "../servable.js";
import type { OperationSettings } from "./operation.js";

/** The capabilities of a server in a revision, and the methods that it refuses. */
export interface Offer {
  /** The capabilities that are advertised to clients. */
  readonly capabilities: ServerCapabilities;
  /** Protocol methods that the revision does not have, or whose capability is not advertised. */
  readonly refused: ReadonlySet<string>;
}

const offers = new Map<string, Offer>();

/** More kinds of servers than one process has; what is dropped is made again. */
const maxOffers = 100;

/** One object for all sessions of one kind: there are many. */
export function offerOf(capabilities: ServerCapabilities, revision: Revision): Offer {
  const key = `${revision.version} ${JSON.stringify(capabilities)}`;
  const known = offers.get(key);
  if (known !== undefined) return known;
  if (offers.size >= maxOffers) offers.clear();
  const isOffered = (method: string): boolean => {
    const path = methodCapabilities.get(method);
    return revision.requests.client.has(method) && (path === undefined || isAdvertised(path, capabilities));
  };
  const offer = { capabilities, refused: new Set([...protocolRequests].filter((method) => !isOffered(method))) };
  offers.set(key, offer);
  return offer;
}

/** The session that a server and a client have negotiated by `initialize`, which is the settings of its operations. */
export interface NegotiatedSession extends OperationSettings {
  readonly offer: Offer;
  readonly session: ServedSession;
  logLevel: LoggingLevel;
}

/**
 * Negotiates the revision of an `initialize`: the requested one, or the newest one that has a handshake.
 * @throws RpcError −32602
 */
export function negotiate(
  params: JsonObject,
  lenient: boolean,
): { readonly revision: Revision; readonly client: ClientDescription } {
  const faults = initializeFaults(params);
  if (faults.length > 0) throw faultyParams(...faults);
  const version = params.protocolVersion as string; // The faults were looked for just above.
  const asked = revisionOf((lenient ? versionAliases.get(version) : undefined) ?? version);
  const revision = asked?.era === "handshake" ? asked : latestHandshake;
  const { clientInfo, capabilities } = revision.up("params", methods.initialize, params);
  return { revision, client: { info: clientInfo, capabilities } as ClientDescription }; // As above.
}

export function initializeResult(
  { info, instructions }: Servable,
  revision: Revision,
  capabilities: ServerCapabilities,
): InitializeResult {
  const result: InitializeResult = {
    protocolVersion: revision.version,
    capabilities,
    serverInfo: info,
    ...(instructions === undefined ? {} : { instructions }),
  };
  return revision.down("result", methods.initialize, result);
}

/** @throws RpcError −32602 for a progress token that is too long */
export function requireShortToken(params: JsonObject): void {
  const faults = progressTokenFaults(readMeta(params)?.progressToken);
  if (faults.length > 0) throw faultyParams(...faults);
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
