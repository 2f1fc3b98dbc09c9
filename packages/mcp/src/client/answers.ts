import { handled, type MaybePromise } from "../base/later.js";
import type { MembersOf } from "../base/members.js";
import { invalidParams, methodNotFound, type ParamsFault, RpcError } from "../jsonrpc/errors.js";
import { inHook } from "../jsonrpc/hooks.js";
import type { AcceptedQuestion, Answering } from "../lifecycle/answering.js";
import { shown } from "../lifecycle/remote-call.js";
import { type ClientCapabilities, mergeCapabilities } from "../protocol/capabilities.js";
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from "../protocol/elicitation.js";
import { specCodes } from "../protocol/errors.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { methods, notifications } from "../protocol/methods.js";
import type { Root } from "../protocol/roots.js";
import type { CreateMessageParams, CreateMessageResult } from "../protocol/sampling.js";
import { samplingFaults } from "../protocol/sampling-faults.js";
import {
  firstFault,
  jsonFault,
  messageFault,
  metaFault,
  shapeFault,
  unsendable,
  withEncodedMessages,
} from "../protocol/sendable.js";
import type { Revision } from "../revisions/revision.js";
import { readForm } from "./form-answer.js";

/** What surrounds a question while it is answered. */
export interface Asked {
  /** Aborted when the answer is not wanted any more: close the dialog. */
  readonly signal: AbortSignal;
}

/**
 * What a server may ask while it answers a call. What is given here is declared; nothing else is answered. The same
 * functions serve every revision.
 */
export interface Answers {
  /**
   * A person fills in a form. What they leave out is filled in with the defaults of the form, and nothing goes out that
   * the form forbids. Show which server asks, and let them decline.
   * https://modelcontextprotocol.io/specification/latest/client/elicitation
   */
  elicit?(params: ElicitFormParams, asked: Asked): MaybePromise<ElicitResult>;
  /**
   * A person visits a page, or not. Show them the whole address before they agree, and open it where neither this
   * program nor a model can look: `accept` says that they agreed, not that they are done.
   */
  visit?(params: ElicitUrlParams, asked: Asked): MaybePromise<VisitResult>;
  /**
   * A model answers. Throw `userRejected()` if a person does not want it to.
   * https://modelcontextprotocol.io/specification/latest/client/sampling
   */
  sample?(params: CreateMessageParams, asked: Asked): MaybePromise<CreateMessageResult>;
  /** What `sample` can do besides: let the model call tools, or see what other servers have said. Default: neither. */
  readonly sampling?: { readonly tools?: boolean; readonly context?: boolean };
  /**
   * Where the server may work: `file:` URIs. A function, if they change; then `client.rootsChanged()` tells it.
   * https://modelcontextprotocol.io/specification/latest/client/roots
   */
  readonly roots?: readonly Root[] | ((asked: Asked) => MaybePromise<readonly Root[]>);
}

/** The members of `Answers`, for the check of options. */
export const answerMembers: MembersOf<Answers> = {
  elicit: ["elicitation", "form", "onElicit", "elicitation/create"],
  visit: ["url", "elicitUrl"],
  sample: ["createMessage", "onSample", "sampling/createMessage"],
  sampling: { tools: [], context: [] },
  roots: ["listRoots", "roots/list"],
};

/** Whether a person visits a page. */
export interface VisitResult extends Pick<ElicitResult, "action"> {
  /**
   * Where a call failed because a page has to be visited first: resolves when the call shall be made again, for instance when the
   * person presses a button. Without it the call waits for the server to say that the visit is over. If it rejects, the call fails
   * as the server said. It never crosses the wire.
   */
  readonly retry?: PromiseLike<unknown>;
}

/** What `sample` throws when a person does not want a model to answer. */
export function userRejected(message = "User rejected sampling request"): RpcError {
  return new RpcError(specCodes.userRejected, message);
}

/** Reads a question; the function that it gives asks it. */
type Accept = (params: JsonObject, revision: Revision) => AcceptedQuestion;

/**
 * The answers of a program, as a conversation wants them.
 *
 * @param declared what is declared besides what is answered
 */
export function answeringOf(answers: Answers, declared: JsonObject): Answering {
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
    acceptVisit(params, revision) {
      if (answers.visit === undefined || revision.facts.elicitation === "form") throw methodNotFound(methods.elicit);
      requireMessage(params);
      return acceptVisit(answers.visit, params);
    },
  };
}

function capabilitiesOf(answers: Answers, revision: Revision): ClientCapabilities {
  const elicitation = elicitationOf(answers, revision);
  const { tools = false, context = false } = revision.facts.samplingTools ? (answers.sampling ?? {}) : {};
  const listChanged =
    typeof answers.roots === "function" && revision.notifications.client.has(notifications.rootsChanged);
  return {
    ...(answers.roots === undefined ? {} : { roots: listChanged ? { listChanged } : {} }),
    ...(answers.sample === undefined
      ? {}
      : { sampling: { ...(context ? { context: {} } : {}), ...(tools ? { tools: {} } : {}) } }),
    ...(elicitation === undefined ? {} : { elicitation }),
  };
}

/** An empty one means forms, wherever it is read. */
function elicitationOf(answers: Answers, { facts }: Revision): ClientCapabilities["elicitation"] {
  const form = answers.elicit === undefined ? {} : { form: {} };
  const url = answers.visit === undefined ? {} : { url: {} };
  const modes = { ...form, ...(facts.elicitation === "form" ? {} : url) };
  if (facts.elicitation === "none" || Object.keys(modes).length === 0) return undefined;
  return facts.elicitation === "form" ? {} : modes;
}

function acceptElicitation(answers: Answers, params: JsonObject, revision: Revision): AcceptedQuestion {
  if (elicitationOf(answers, revision) === undefined) throw methodNotFound(methods.elicit);
  const { mode = "form" } = params;
  requireMessage(params);
  if (mode === "form" && answers.elicit !== undefined) return acceptForm(answers.elicit, params);
  if (mode === "url" && answers.visit !== undefined && revision.facts.elicitation !== "form") {
    const visit = acceptVisit(answers.visit, params);
    return async (signal) => ({ action: (await visit(signal)).action });
  }
  throw notDeclared("/mode", `elicitation in mode ${shown(mode)}`);
}

function requireMessage({ message }: JsonObject): void {
  if (typeof message === "string") return;
  throw invalidParams("Invalid params", [{ path: "/message", message: "must be a string" }]);
}

function acceptForm(elicit: NonNullable<Answers["elicit"]>, params: JsonObject): AcceptedQuestion {
  const form = readForm(params);
  return async (signal) => {
    // What is looked at was checked just above; a form that says more than the specification lets it is shown as it is.
    const answer = await inHook("answers.elicit", () => elicit(params as unknown as ElicitFormParams, { signal }));
    requireAction(answer, "elicit");
    if (answer.action !== "accept") return { action: answer.action };
    const { action, content = {} } = answer;
    const fault = shapeFault("ElicitResult", { action, content }, "") ?? jsonFault(content, "/content");
    if (fault !== undefined) throw unsendable("What answers.elicit returned", fault);
    return { action, content: await form.complete(content) };
  };
}

function acceptVisit(
  visit: NonNullable<Answers["visit"]>,
  params: JsonObject,
): (signal: AbortSignal) => Promise<VisitResult> {
  const { url } = params;
  // A page to look at, and not something that a program opens or runs: a peer chooses the scheme.
  const protocol = typeof url === "string" && URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol !== "https:" && protocol !== "http:") {
    throw invalidParams("Invalid params", [{ path: "/url", message: "must be an absolute https or http URL" }]);
  }
  return async (signal) => {
    // What is looked at was checked above.
    const answer = await inHook("answers.visit", () => visit(params as unknown as ElicitUrlParams, { signal }));
    requireAction(answer, "visit");
    handled(answer.retry); // Awaited only where a call waits for it.
    return answer;
  };
}

function requireAction(answer: Pick<ElicitResult, "action">, name: string): void {
  if (isObject(answer) && ["accept", "decline", "cancel"].includes(answer.action)) return;
  throw new TypeError(`answers.${name} must return an action: accept, decline or cancel`);
}

function acceptSampling({ sample, sampling }: Answers, params: JsonObject, revision: Revision): AcceptedQuestion {
  if (sample === undefined) throw methodNotFound(methods.createMessage);
  const { tools, toolChoice } = params;
  const isOffered = sampling?.tools === true && revision.facts.samplingTools;
  if (!isOffered && (tools !== undefined || toolChoice !== undefined))
    throw notDeclared("/tools", "sampling with tools");
  const faults = samplingFaults(params);
  if (faults.length > 0) throw invalidParams("Invalid params", faults);
  return async (signal) => {
    // Checked just above.
    const answer: unknown = await inHook("answers.sample", () =>
      sample(params as unknown as CreateMessageParams, { signal }),
    );
    const result = isObject(answer) ? withEncodedMessages(answer) : answer;
    const fault = shapeFault("CreateMessageResult", result, "") ?? messageFault(result as JsonObject, "");
    if (fault !== undefined) throw unsendable("What answers.sample returned", fault);
    return result as JsonObject; // Checked just above.
  };
}

function acceptRoots({ roots }: Answers): AcceptedQuestion {
  if (roots === undefined) throw methodNotFound(methods.listRoots);
  return async (signal) => {
    const given = typeof roots === "function" ? await inHook("answers.roots", () => roots({ signal })) : roots;
    const fault =
      shapeFault("ListRootsResult", { roots: given }, "") ??
      firstFault(given, (root, index) => rootFault(root as Root, `/roots/${index}`));
    if (fault !== undefined) throw unsendable("What answers.roots gives", fault);
    return { roots: given };
  };
}

/** https://modelcontextprotocol.io/specification/latest/client/roots#root */
function rootFault({ uri, _meta }: Root, path: string): ParamsFault | undefined {
  if (uri.startsWith("file://")) return metaFault(_meta, `${path}/_meta`);
  return { path: `${path}/uri`, message: `must be a file:// URI, got ${shown(uri)}: see pathToFileURL of node:url` };
}

/** −32602, as the specification has it for a part of a capability; a whole one that was not declared is −32601. */
function notDeclared(path: string, what: string): RpcError {
  return invalidParams("Invalid params", [{ path, message: `${what} was not declared by this client` }]);
}
