import { codes, type LocalError, RpcError } from "../jsonrpc/errors.js";
import { withElicitationId } from "../lifecycle/input.js";
import type { ServerDescription } from "../lifecycle/opened.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import { specCodes } from "../protocol/errors.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { methods, notifications } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";

/** `_meta` keys that describe one side; the bridge sends its own on each side. */
const ofOneSide = new Set<string>([
  metaKeys.progressToken,
  metaKeys.protocolVersion,
  metaKeys.clientCapabilities,
  metaKeys.clientInfo,
  metaKeys.logLevel,
  metaKeys.subscriptionId,
]);

/** Removes `_meta` keys of one side from params, and adds those in `added`. */
export function crossedParams(params: JsonObject, added: JsonObject = {}): JsonObject {
  const meta = readMeta(params);
  if (meta === undefined && Object.keys(added).length === 0) return params;
  const { _meta, ...rest } = params;
  const kept = Object.entries(meta ?? {}).filter(([key]) => !ofOneSide.has(key));
  const crossed = { ...Object.fromEntries(kept), ...added };
  return Object.keys(crossed).length === 0 ? rest : { ...rest, _meta: crossed };
}

/** The capabilities declared downstream: those of the upstream server that both revisions support. */
export function offeredAcross({ capabilities }: ServerDescription, far: Revision, near: Revision): ServerCapabilities {
  const { tasks, completions, ...rest } = capabilities;
  // Revisions without a `completions` capability do not declare it, so assume support.
  const completing = completions ?? (far.facts.completionsCapability ? undefined : {});
  return {
    ...rest,
    ...(completing && { completions: completing }),
    ...(tasks && far.facts.tasks === "core" && near.facts.tasks === "core" && { tasks }),
  };
}

/** The capabilities declared upstream: those of the downstream client that both revisions support. */
export function declaredAcross(declared: ClientCapabilities, near: Revision, far: Revision): ClientCapabilities {
  const { roots, sampling, elicitation, tasks, ...rest } = declared;
  const listChanged =
    roots?.listChanged === true &&
    [near, far].every((each) => each.notifications.client.has(notifications.rootsChanged));
  return {
    ...rest,
    ...(roots && { roots: listChanged ? roots : {} }),
    ...(sampling && { sampling: near.facts.samplingTools && far.facts.samplingTools ? sampling : {} }),
    ...(elicitation && elicitationAcross(elicitation, near, far)),
    ...(tasks && far.facts.tasks === "core" && near.facts.tasks === "core" && { tasks }),
  };
}

type Elicitation = NonNullable<ClientCapabilities["elicitation"]>;

/** Converts the elicitation capability: absent, an empty object (which means forms), or a list of modes. */
function elicitationAcross(
  declared: Elicitation,
  near: Revision,
  far: Revision,
): Pick<ClientCapabilities, "elicitation"> {
  const forms = near.facts.elicitation === "form" || Object.keys(declared).length === 0 || declared.form !== undefined;
  if (far.facts.elicitation === "none" || near.facts.elicitation === "none") return {};
  if (far.facts.elicitation === "form") return forms ? { elicitation: {} } : {};
  return { elicitation: near.facts.elicitation === "form" ? { form: {} } : declared };
}

/** An upstream error, with the call that failed. */
export interface FarFault {
  readonly method: string;
  readonly params: JsonObject;
  readonly error: RpcError;
}

/** Converts an upstream error to the newest revision. The downstream session then converts it to its own. */
export function crossedError({ method, params, error }: FarFault, near: Revision): RpcError {
  const { code, message, data } = error;
  const as = (other: number): RpcError => new RpcError(other, message, data, { cause: error });
  if (lacksCapability(error)) return as(near.codes.missingRequiredClientCapability ?? codes.invalidRequest);
  const isMissing = method === methods.readResource && code === codes.invalidParams;
  if (isMissing && isObject(data) && data.uri === params.uri) return as(specCodes.resourceNotFound);
  const isForeign = code >= -32_099 && code <= -32_020 && !Object.values(near.codes).includes(code);
  return isForeign ? as(codes.invalidRequest) : error;
}

/** Recognises a missing client capability: one revision has an error code for it, the others use `data`. */
function lacksCapability({ code, data }: RpcError): boolean {
  const mayBe = code === specCodes.missingRequiredClientCapability || code === codes.invalidRequest;
  return mayBe && isObject(data) && isObject(data.requiredCapabilities);
}

/** Converts an input request from upstream to the downstream revision. Only 2025-11-25 has an elicitation id. */
export function crossedQuestion(method: string, params: JsonObject, near: Revision): JsonObject {
  const shaped = near.down("params", method, params) as JsonObject; // Conversion keeps objects objects.
  if (method !== methods.elicit) return shaped;
  if (near.facts.elicitation === "form, url with id") return withElicitationId(method, shaped, near);
  const { elicitationId, ...rest } = shaped;
  return rest;
}

/** The error sent upstream when the downstream client did not answer an input request. */
export function notAnswered(error: LocalError): RpcError {
  return new RpcError(
    codes.internalError,
    "Internal error",
    { reason: "the client did not respond" },
    { cause: error },
  );
}

/** The error of a call that got no upstream response. Transport and process details are included only with `candid`. */
export function unanswered(error: LocalError, isCandid: boolean): RpcError {
  const reason = error.reason === "cancelled" ? "the bridge has cancelled the call" : told[error.reason];
  return new RpcError(
    codes.internalError,
    "Internal error",
    { reason: isCandid ? `${reason}: ${error.message}` : reason },
    { cause: error },
  );
}

const told: Readonly<Record<Exclude<LocalError["reason"], "cancelled">, string>> = {
  closed: "the upstream server cannot be reached, or has exited",
  timeout: "the upstream server did not respond in time",
  refused: "the upstream server's revision does not support the call, or its input request was not answered",
  protocol: "the upstream server violated the protocol, or supports no allowed revision",
};
