import { codes, LocalError, RpcError } from "../jsonrpc/errors.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { ServerDescription } from "../lifecycle/opened.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { notifications } from "../protocol/methods.js";
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

/** Codes that only the specification may give a meaning. */
function isReserved(code: number): boolean {
  return code >= -32_099 && code <= -32_020;
}

/** An error of the far side as the near side is told it. */
export function crossedError(error: unknown, method: string, near: Revision, report: Reporter): unknown {
  if (error instanceof RpcError) {
    const isKnown = !isReserved(error.code) || Object.values(near.codes).includes(error.code);
    return isKnown ? error : new RpcError(codes.invalidRequest, error.message, error.data, { cause: error });
  }
  if (!(error instanceof LocalError) || error.reason === "cancelled") return error;
  report({ kind: "fault", method, error });
  return new RpcError(codes.internalError, "Internal error", { reason: told[error.reason] }, { cause: error });
}

/** The far side's own words, or those of its process, are not for everybody who reaches the near side. */
const told: Readonly<Record<Exclude<LocalError["reason"], "cancelled">, string>> = {
  closed: "the server behind the bridge is gone: open the conversation again",
  timeout: "the server behind the bridge did not answer in time",
  refused: "a question of the server behind the bridge was not answered, or the call cannot be said in its revision",
  protocol: "the server behind the bridge broke the protocol",
};

/** The result of a call, as an object of the newest shape. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
