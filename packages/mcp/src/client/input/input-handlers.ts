import type { MembersOf } from "../../base/check-members.js";
import { type MaybePromise, markHandled } from "../../base/maybe-promise.js";
import { invalidParams, methodNotFound, type ParamsFault, RpcError } from "../../jsonrpc/errors.js";
import { inHook } from "../../jsonrpc/hooks.js";
import { type ClientCapabilities, mergeCapabilities } from "../../protocol/capabilities.js";
import { specCodes } from "../../protocol/errors.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { methods, notifications } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import { samplingFaults } from "../../protocol/sampling-checks.js";
import {
  firstFault,
  jsonFault,
  messageFault,
  metaFault,
  shapeFault,
  unsendable,
  withEncodedMessages,
} from "../../protocol/sendable.js";
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from "../../protocol/types/elicitation.js";
import type { Root } from "../../protocol/types/roots.js";
import type { CreateMessageParams, CreateMessageResult } from "../../protocol/types/sampling.js";
import { type AcceptedRequest, type InputResponder, quotedForMessage } from "../session/client-session.js";
import { readForm } from "./form-response.js";

/** Context of an input request while its handler runs. */
export interface InputContext {
  /** Aborted when the response is no longer needed: close the dialog. */
  readonly signal: AbortSignal;
}

/**
 * Handlers for the input requests of a server. The client declares the capabilities of the handlers that are given, and rejects
 * all other requests. The same handlers serve every revision.
 */
export interface InputHandlers {
  /**
   * Asks the user to fill in a form. The client adds the defaults of the form and rejects content that the form forbids. Show
   * which server asks, and let the user decline.
   * https://modelcontextprotocol.io/specification/latest/client/elicitation
   */
  elicitation?(params: ElicitFormParams, asked: InputContext): MaybePromise<ElicitResult>;
  /**
   * Asks the user to open a web page. Show the full URL first, and open it outside of this program and of the model: `accept`
   * means that the user agreed, not that the interaction is complete.
   */
  urlElicitation?(params: ElicitUrlParams, asked: InputContext): MaybePromise<UrlElicitationResult>;
  /**
   * Samples from a model. Throw `userRejected()` if the user refuses.
   * https://modelcontextprotocol.io/specification/latest/client/sampling
   */
  sampling?(params: CreateMessageParams, asked: InputContext): MaybePromise<CreateMessageResult>;
  /** Optional sampling features: tool use, and context from other servers. Default: neither. */
  readonly samplingFeatures?: { readonly tools?: boolean; readonly context?: boolean };
  /**
   * The directories that the server may use, as `file:` URIs. Give a function if they can change, and call `client.rootsChanged()` after a change.
   * https://modelcontextprotocol.io/specification/latest/client/roots
   */
  readonly roots?: readonly Root[] | ((asked: InputContext) => MaybePromise<readonly Root[]>);
}

/** The members of `Answers`, for the check of options. */
export const inputHandlerMembers: MembersOf<InputHandlers> = {
  elicitation: ["elicit", "form", "onElicit", "elicitation/create"],
  urlElicitation: ["visit", "url", "elicitUrl"],
  sampling: ["sample", "createMessage", "onSample", "sampling/createMessage"],
  samplingFeatures: { tools: [], context: [] },
  roots: ["listRoots", "roots/list"],
};

/** Result of a URL elicitation handler. */
export interface UrlElicitationResult extends Pick<ElicitResult, "action"> {
  /**
   * Used when a call failed with −32042, *URL elicitation required*: the client retries the call when this promise resolves, for
   * instance when the user presses a button. Without it the client waits for `notifications/elicitation/complete`. If it rejects,
   * the call fails with the error of the server. It is not sent to the server.
   */
  readonly retry?: PromiseLike<unknown>;
}

/** The error that a `sampling` handler throws when the user refuses. */
export function userRejected(message = "User rejected sampling request"): RpcError {
  return new RpcError(specCodes.userRejected, message);
}

/** Reads a question; the function that it gives asks it. */
type Accept = (params: JsonObject, revision: Revision) => AcceptedRequest;

/**
 * The answers of a program, as a conversation wants them.
 *
 * @param declared what is declared besides what is answered
 */
export function inputResponderOf(answers: InputHandlers, declared: JsonObject): InputResponder {
  const accepts: ReadonlyMap<string, Accept> = new Map<string, Accept>([
    [methods.elicit, (params, revision) => acceptElicitation(answers, params, revision)],
    [methods.createMessage, (params, revision) => acceptSampling(answers, params, revision)],
    [methods.listRoots, () => acceptRoots(answers)],
  ]);
  return {
    capabilities: (revision) => mergeCapabilities(capabilitiesOf(answers, revision), declared),
    accept(method, params, revision) {
      const accept = accepts.get(method);
      if (accept === undefined) throw methodNotFound(method);
      return accept(params, revision);
    },
    acceptUrlElicitation(params, revision) {
      if (answers.urlElicitation === undefined || revision.facts.elicitation === "form")
        throw methodNotFound(methods.elicit);
      requireMessage(params);
      return acceptVisit(answers.urlElicitation, params);
    },
  };
}

function capabilitiesOf(answers: InputHandlers, revision: Revision): ClientCapabilities {
  const elicitation = elicitationOf(answers, revision);
  const { tools = false, context = false } = revision.facts.samplingTools ? (answers.samplingFeatures ?? {}) : {};
  const listChanged =
    typeof answers.roots === "function" && revision.notifications.client.has(notifications.rootsChanged);
  return {
    ...(answers.roots === undefined ? {} : { roots: listChanged ? { listChanged } : {} }),
    ...(answers.sampling === undefined
      ? {}
      : { sampling: { ...(context ? { context: {} } : {}), ...(tools ? { tools: {} } : {}) } }),
    ...(elicitation === undefined ? {} : { elicitation }),
  };
}

/** An empty one means forms, wherever it is read. */
function elicitationOf(answers: InputHandlers, { facts }: Revision): ClientCapabilities["elicitation"] {
  const form = answers.elicitation === undefined ? {} : { form: {} };
  const url = answers.urlElicitation === undefined ? {} : { url: {} };
  const modes = { ...form, ...(facts.elicitation === "form" ? {} : url) };
  if (facts.elicitation === "none" || Object.keys(modes).length === 0) return undefined;
  return facts.elicitation === "form" ? {} : modes;
}

function acceptElicitation(answers: InputHandlers, params: JsonObject, revision: Revision): AcceptedRequest {
  if (elicitationOf(answers, revision) === undefined) throw methodNotFound(methods.elicit);
  const { mode = "form" } = params;
  requireMessage(params);
  if (mode === "form" && answers.elicitation !== undefined) return acceptForm(answers.elicitation, params);
  if (mode === "url" && answers.urlElicitation !== undefined && revision.facts.elicitation !== "form") {
    const visit = acceptVisit(answers.urlElicitation, params);
    return async (signal) => ({ action: (await visit(signal)).action });
  }
  throw notDeclared("/mode", `elicitation in mode ${quotedForMessage(mode)}`);
}

function requireMessage({ message }: JsonObject): void {
  if (typeof message === "string") return;
  throw invalidParams("Invalid params", [{ path: "/message", message: "must be a string" }]);
}

function acceptForm(elicit: NonNullable<InputHandlers["elicitation"]>, params: JsonObject): AcceptedRequest {
  const form = readForm(params);
  return async (signal) => {
    // What is looked at was checked just above; a form that says more than the specification lets it is shown as it is.
    const answer = await inHook("handlers.elicitation", () =>
      elicit(params as unknown as ElicitFormParams, { signal }),
    );
    requireAction(answer, "elicitation");
    if (answer.action !== "accept") return { action: answer.action };
    const { action, content = {} } = answer;
    const fault = shapeFault("ElicitResult", { action, content }, "") ?? jsonFault(content, "/content");
    if (fault !== undefined) throw unsendable("What handlers.elicitation returned", fault);
    return { action, content: await form.complete(content) };
  };
}

function acceptVisit(
  visit: NonNullable<InputHandlers["urlElicitation"]>,
  params: JsonObject,
): (signal: AbortSignal) => Promise<UrlElicitationResult> {
  const { url } = params;
  // A page to look at, and not something that a program opens or runs: a peer chooses the scheme.
  const protocol = typeof url === "string" && URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol !== "https:" && protocol !== "http:") {
    throw invalidParams("Invalid params", [{ path: "/url", message: "must be an absolute https or http URL" }]);
  }
  return async (signal) => {
    // What is looked at was checked above.
    const answer = await inHook("handlers.urlElicitation", () =>
      visit(params as unknown as ElicitUrlParams, { signal }),
    );
    requireAction(answer, "urlElicitation");
    markHandled(answer.retry); // Awaited only where a call waits for it.
    return answer;
  };
}

function requireAction(answer: Pick<ElicitResult, "action">, name: string): void {
  if (isObject(answer) && ["accept", "decline", "cancel"].includes(answer.action)) return;
  throw new TypeError(`handlers.${name} must return an action: accept, decline or cancel`);
}

function acceptSampling(
  { sampling, samplingFeatures }: InputHandlers,
  params: JsonObject,
  revision: Revision,
): AcceptedRequest {
  if (sampling === undefined) throw methodNotFound(methods.createMessage);
  const { tools, toolChoice } = params;
  const isOffered = samplingFeatures?.tools === true && revision.facts.samplingTools;
  if (!isOffered && (tools !== undefined || toolChoice !== undefined))
    throw notDeclared("/tools", "sampling with tools");
  const faults = samplingFaults(params);
  if (faults.length > 0) throw invalidParams("Invalid params", faults);
  return async (signal) => {
    // Checked just above.
    const answer: unknown = await inHook("handlers.sampling", () =>
      sampling(params as unknown as CreateMessageParams, { signal }),
    );
    const result = isObject(answer) ? withEncodedMessages(answer) : answer;
    const fault = shapeFault("CreateMessageResult", result, "") ?? messageFault(result as JsonObject, "");
    if (fault !== undefined) throw unsendable("What handlers.sampling returned", fault);
    return result as JsonObject; // Checked just above.
  };
}

function acceptRoots({ roots }: InputHandlers): AcceptedRequest {
  if (roots === undefined) throw methodNotFound(methods.listRoots);
  return async (signal) => {
    const given = typeof roots === "function" ? await inHook("handlers.roots", () => roots({ signal })) : roots;
    const fault =
      shapeFault("ListRootsResult", { roots: given }, "") ??
      firstFault(given, (root, index) => rootFault(root as Root, `/roots/${index}`));
    if (fault !== undefined) throw unsendable("What handlers.roots gives", fault);
    return { roots: given };
  };
}

/** https://modelcontextprotocol.io/specification/latest/client/roots#root */
function rootFault({ uri, _meta }: Root, path: string): ParamsFault | undefined {
  if (uri.startsWith("file://")) return metaFault(_meta, `${path}/_meta`);
  return {
    path: `${path}/uri`,
    message: `must be a file:// URI, got ${quotedForMessage(uri)}: see pathToFileURL of node:url`,
  };
}

/** −32602, as the specification has it for a part of a capability; a whole one that was not declared is −32601. */
function notDeclared(path: string, what: string): RpcError {
  return invalidParams("Invalid params", [{ path, message: `${what} was not declared by this client` }]);
}
