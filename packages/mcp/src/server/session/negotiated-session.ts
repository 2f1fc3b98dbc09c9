import { kindOf } from "../../base/json.js";
import { invalidParams, type ParamsFault } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { progressTokenFaults, readMeta } from "../../protocol/meta.js";
import { unadvertisedMethods } from "../../protocol/method-capabilities.js";
import { methods } from "../../protocol/methods.js";
import { versionAliases } from "../../protocol/revisions/aliases.js";
import { latestHandshake, protocolRequests, revisionOf } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { InitializeResult } from "../../protocol/types/initialize.js";
import type { ClientDescription, Servable } from "../servable.js";
import type { OperationSettings } from "./operation.js";

/** The session that a server and a client have negotiated by `initialize`. */
export interface NegotiatedSession {
  /** The capabilities that were advertised to the client. */
  readonly capabilities: ServerCapabilities;
  /** Protocol methods that the revision does not have, or whose capability was not advertised. */
  readonly refused: ReadonlySet<string>;
  readonly terms: OperationSettings;
}

const refusals = new Map<string, ReadonlySet<string>>();

/** More kinds of servers than one process has; what is dropped is made again. */
const maxRefusals = 100;

/** One set for all conversations of one kind: there are many, and each keeps its own agreement. */
function refusedBy(capabilities: ServerCapabilities, revision: Revision): ReadonlySet<string> {
  const key = `${revision.version} ${JSON.stringify(capabilities)}`;
  const known = refusals.get(key);
  if (known !== undefined) return known;
  if (refusals.size >= maxRefusals) refusals.clear();
  const absent = [...protocolRequests].filter((method) => !revision.requests.client.has(method));
  const refused = new Set([...absent, ...unadvertisedMethods(capabilities)]);
  refusals.set(key, refused);
  return refused;
}

export function agreementOf(capabilities: ServerCapabilities, terms: OperationSettings): NegotiatedSession {
  return { capabilities, refused: refusedBy(capabilities, terms.revision), terms };
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
  if (faults.length > 0) throw invalidParams("Invalid params", faults);
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
  if (faults.length > 0) throw invalidParams("Invalid params", faults);
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
