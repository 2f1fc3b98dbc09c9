import { isObject, type JsonObject } from "../base/json.js";
import type { ServerDescription } from "../client/session/client-session.js";
import { codes, type LocalError, RpcError } from "../jsonrpc/errors.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import { specCodes } from "../protocol/errors.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../protocol/revisions/revision.js";
import { withElicitationId } from "../server/input/input.js";

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
export function translateParams(params: JsonObject, added: JsonObject = {}): JsonObject {
  const meta = readMeta(params);
  if (meta === undefined && Object.keys(added).length === 0) return params;
  const { _meta, ...rest } = params;
  const kept = Object.entries(meta ?? {}).filter(([key]) => !ofOneSide.has(key));
  const crossed = { ...Object.fromEntries(kept), ...added };
  return Object.keys(crossed).length === 0 ? rest : { ...rest, _meta: crossed };
}

/** The capabilities declared downstream: those of the upstream server that both revisions support. */
export function translateServerCapabilities(
  { capabilities }: ServerDescription,
  upstream: Revision,
  downstream: Revision,
): ServerCapabilities {
  const { tasks, completions, ...rest } = capabilities;
  // Revisions without a `completions` capability do not declare it, so assume support.
  const completing = completions ?? (upstream.facts.completionsCapability ? undefined : {});
  return {
    ...rest,
    ...(completing && { completions: completing }),
    ...(tasks && upstream.facts.tasks === "core" && downstream.facts.tasks === "core" && { tasks }),
  };
}

/** Converts an upstream error of a call to the newest revision. The downstream session then converts it to its own. */
export function translateError(error: RpcError, method: string, params: JsonObject, downstream: Revision): RpcError {
  const { code, message, data } = error;
  const as = (other: number): RpcError => new RpcError(other, message, data, { cause: error });
  if (lacksCapability(error)) return as(downstream.codes.missingRequiredClientCapability ?? codes.invalidRequest);
  const isMissing = method === methods.readResource && code === codes.invalidParams;
  if (isMissing && isObject(data) && data.uri === params.uri) return as(specCodes.resourceNotFound);
  const isForeign = code >= -32_099 && code <= -32_020 && !Object.values(downstream.codes).includes(code);
  return isForeign ? as(codes.invalidRequest) : error;
}

/** Recognises a missing client capability: one revision has an error code for it, the others use `data`. */
function lacksCapability({ code, data }: RpcError): boolean {
  const mayBe = code === specCodes.missingRequiredClientCapability || code === codes.invalidRequest;
  return mayBe && isObject(data) && isObject(data.requiredCapabilities);
}

/** Converts an input request from upstream to the downstream revision. Only 2025-11-25 has an elicitation id. */
export function translateClientRequest(method: string, params: JsonObject, downstream: Revision): JsonObject {
  const shaped = downstream.down("params", method, params);
  if (method !== methods.elicit) return shaped;
  if (downstream.facts.elicitation === "form, url with id") return withElicitationId(method, shaped, downstream);
  const { elicitationId, ...rest } = shaped;
  return rest;
}

/** The error of a call that got no upstream response. Transport and process details are included only with `candid`. */
export function withoutResponse(error: LocalError, isCandid: boolean): RpcError {
  const reason = reasons[error.reason];
  return internalErrorFor(isCandid ? `${reason}: ${error.message}` : reason, error);
}

/** The error for one side when the other did not respond. */
export function internalErrorFor(reason: string, cause: LocalError): RpcError {
  return new RpcError(codes.internalError, "Internal error", { reason }, { cause });
}

const reasons: Readonly<Record<LocalError["reason"], string>> = {
  cancelled: "the bridge has cancelled the call",
  closed: "the upstream server cannot be reached, or has exited",
  timeout: "the upstream server did not respond in time",
  refused: "the upstream server's revision does not support the call, or its input request was not answered",
  protocol: "the upstream server violated the protocol, or supports no allowed revision",
};
