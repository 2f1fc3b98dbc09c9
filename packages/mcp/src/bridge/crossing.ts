import { codes, type LocalError, RpcError } from "../jsonrpc/errors.js";
import { withElicitationId } from "../lifecycle/input.js";
import type { ServerDescription } from "../lifecycle/opened.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import { specCodes } from "../protocol/errors.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { methods, notifications } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";

/** What a peer says of itself in `_meta`: each side of a bridge says its own. */
const ofOneSide = new Set<string>([
  metaKeys.progressToken,
  metaKeys.protocolVersion,
  metaKeys.clientCapabilities,
  metaKeys.clientInfo,
  metaKeys.logLevel,
  metaKeys.subscriptionId,
]);

/** Params without what concerns only the side that they come from, and with `added` in their `_meta`. */
export function crossedParams(params: JsonObject, added: JsonObject = {}): JsonObject {
  const meta = readMeta(params);
  if (meta === undefined && Object.keys(added).length === 0) return params;
  const { _meta, ...rest } = params;
  const kept = Object.entries(meta ?? {}).filter(([key]) => !ofOneSide.has(key));
  const crossed = { ...Object.fromEntries(kept), ...added };
  return Object.keys(crossed).length === 0 ? rest : { ...rest, _meta: crossed };
}

/** What the near side may count on: what the far server offers, as far as both revisions have it. */
export function offeredAcross({ capabilities }: ServerDescription, far: Revision, near: Revision): ServerCapabilities {
  const { tasks, completions, ...rest } = capabilities;
  // Before it was a capability, completion was there or not.
  const completing = completions ?? (far.facts.completionsCapability ? undefined : {});
  return {
    ...rest,
    ...(completing && { completions: completing }),
    ...(tasks && far.facts.tasks === "core" && near.facts.tasks === "core" && { tasks }),
  };
}

/** What the far side may ask: what the near client has declared, as far as both revisions have it. */
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

/** Nothing, forms without a word on it, or the modes. An empty one means forms. */
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

/** What went wrong on the far side, of which call. */
export interface FarFault {
  readonly method: string;
  readonly params: JsonObject;
  readonly error: RpcError;
}

/** An error of the far side in the words of the newest revision, from where the near side's lifecycle takes it to its own. */
export function crossedError({ method, params, error }: FarFault, near: Revision): RpcError {
  const { code, message, data } = error;
  const as = (other: number): RpcError => new RpcError(other, message, data, { cause: error });
  if (lacksCapability(error)) return as(near.codes.missingRequiredClientCapability ?? codes.invalidRequest);
  const isMissing = method === methods.readResource && code === codes.invalidParams;
  if (isMissing && isObject(data) && data.uri === params.uri) return as(specCodes.resourceNotFound);
  const isForeign = code >= -32_099 && code <= -32_020 && !Object.values(near.codes).includes(code);
  return isForeign ? as(codes.invalidRequest) : error;
}

/** One revision has a code for it; the others say it with what it names. */
function lacksCapability({ code, data }: RpcError): boolean {
  const mayBe = code === specCodes.missingRequiredClientCapability || code === codes.invalidRequest;
  return mayBe && isObject(data) && isObject(data.requiredCapabilities);
}

/** A question of the far server as the near revision has it: one names every visit to a page, the next does not any more. */
export function crossedQuestion(method: string, params: JsonObject, near: Revision): JsonObject {
  const shaped = near.down("params", method, params) as JsonObject; // A reshape of an object gives an object.
  if (method !== methods.elicit) return shaped;
  if (near.facts.elicitation === "form, url with id") return withElicitationId(method, shaped, near);
  const { elicitationId, ...rest } = shaped;
  return rest;
}

/** How a question of the far server ends that the near end has left without an answer. */
export function notAnswered(error: LocalError): RpcError {
  return new RpcError(
    codes.internalError,
    "Internal error",
    { reason: "the client gives no answer" },
    { cause: error },
  );
}

/** How a call ends whose far side gave no answer. What its carrier or its process has said is not for everybody at the near end. */
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
  closed: "the server behind the bridge could not be reached, or is gone",
  timeout: "the server behind the bridge did not answer in time",
  refused: "the call cannot be made in the revision of the server behind the bridge, or its question was not answered",
  protocol: "the server behind the bridge broke the protocol, or speaks no revision that it may",
};
