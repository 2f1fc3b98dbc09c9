import type { MembersOf } from "../../base/check-members.js";
import { escapeControls } from "../../base/escape-controls.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { andThen, type MaybePromise, markHandled } from "../../base/maybe-promise.js";
import { codes, faultyParams, methodNotFound, type ParamsFault, RpcError } from "../../jsonrpc/errors.js";
import { inHook } from "../../jsonrpc/hooks.js";
import { type ClientCapabilities, mergeCapabilities } from "../../protocol/capabilities.js";
import { specCodes } from "../../protocol/errors.js";
import { methods } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import { samplingFaults } from "../../protocol/sampling-checks.js";
import { withEncodedMessages } from "../../protocol/sendable.js";
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from "../../protocol/types/elicitation.js";
import type { Root } from "../../protocol/types/roots.js";
import type { CreateMessageParams, CreateMessageResult } from "../../protocol/types/sampling.js";
import { compile } from "../../schema/compile.js";
import { SchemaError } from "../../schema/schema-error.js";
import { declaredIn, fieldKeywords, formDefaults, requireSendableResult } from "../../session/input-methods.js";
import { type AcceptedRequest, type InputResponder, quotedForMessage } from "../session/client-session.js";

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
  readonly samplingFeatures?: {
    /** Whether to accept requests with `tools` and `toolChoice`. Default: false. */
    readonly tools?: boolean;
    /** Whether to accept `includeContext` values other than `"none"`. Default: false. */
    readonly context?: boolean;
  };
  /**
   * The directories that the server may use, as `file:` URIs. Give a function if they can change, and call `client.rootsChanged()` after a change.
   * https://modelcontextprotocol.io/specification/latest/client/roots
   */
  readonly roots?: readonly Root[] | ((asked: InputContext) => MaybePromise<readonly Root[]>);
}

/** The members of `InputHandlers`, to detect unknown options. */
export const inputHandlerMembers: MembersOf<InputHandlers> = {
  elicitation: ["function", "elicit", "form", "onElicit", "elicitation/create"],
  urlElicitation: ["function", "visit", "url", "elicitUrl"],
  sampling: ["function", "sample", "createMessage", "onSample", "sampling/createMessage"],
  samplingFeatures: { tools: ["boolean"], context: ["boolean"] },
  roots: ["any", "listRoots", "roots/list"],
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

/**
 * The error that a `sampling` handler throws when the user refuses.
 *
 * @example
 * await connect(url, { handlers: { sampling: () => { throw userRejected(); } } });
 */
export function userRejected(message = "User rejected sampling request"): RpcError {
  return new RpcError(specCodes.userRejected, message);
}

/** Validates an input request. */
type Accept = (params: JsonObject, revision: Revision) => AcceptedRequest;

/**
 * Responds to input requests with the handlers of the program.
 *
 * @param declared capabilities to declare in addition to those of the handlers
 */
export function inputResponderOf(handlers: InputHandlers, declared: JsonObject): InputResponder {
  const accepts: ReadonlyMap<string, Accept> = new Map<string, Accept>([
    [methods.elicit, (params, revision) => acceptElicitation(handlers, params, revision)],
    [methods.createMessage, (params, revision) => acceptSampling(handlers, params, revision)],
    [methods.listRoots, () => acceptRoots(handlers)],
  ]);
  return {
    capabilities: (revision) => mergeCapabilities(declaredIn(revision, capabilitiesOf(handlers)), declared),
    accept(method, params, revision) {
      const accept = accepts.get(method);
      if (accept === undefined) throw methodNotFound(method);
      return accept(params, revision);
    },
    acceptUrlElicitation(params, revision) {
      if (handlers.urlElicitation === undefined || revision.facts.elicitation === "form")
        throw methodNotFound(methods.elicit);
      requireMessage(params);
      return acceptUrl(handlers.urlElicitation, params);
    },
  };
}

/** The capabilities of the handlers, in the newest shape. */
function capabilitiesOf({
  elicitation,
  urlElicitation,
  sampling,
  samplingFeatures,
  roots,
}: InputHandlers): ClientCapabilities {
  const modes = { ...(elicitation && { form: {} }), ...(urlElicitation && { url: {} }) };
  const { tools = false, context = false } = samplingFeatures ?? {};
  return {
    ...(roots && { roots: { listChanged: typeof roots === "function" } }),
    ...(sampling && { sampling: { ...(context && { context: {} }), ...(tools && { tools: {} }) } }),
    ...(Object.keys(modes).length > 0 && { elicitation: modes }),
  };
}

function acceptElicitation(handlers: InputHandlers, params: JsonObject, revision: Revision): AcceptedRequest {
  if (declaredIn(revision, capabilitiesOf(handlers)).elicitation === undefined) throw methodNotFound(methods.elicit);
  const { mode = "form" } = params;
  requireMessage(params);
  if (mode === "form" && handlers.elicitation !== undefined) return acceptForm(handlers.elicitation, params);
  if (mode === "url" && handlers.urlElicitation !== undefined && revision.facts.elicitation !== "form") {
    const open = acceptUrl(handlers.urlElicitation, params);
    return async (signal) => ({ action: (await open(signal)).action });
  }
  throw notDeclared("/mode", `elicitation in mode ${quotedForMessage(mode)}`);
}

function requireMessage({ message }: JsonObject): void {
  if (typeof message === "string") return;
  throw faultyParams({ path: "/message", message: "must be a string" });
}

function acceptForm(elicit: NonNullable<InputHandlers["elicitation"]>, params: JsonObject): AcceptedRequest {
  const complete = readForm(params);
  return async (signal) => {
    // The required members were checked above; further members of the form are passed on.
    const result = await inHook("handlers.elicitation", () =>
      elicit(params as unknown as ElicitFormParams, { signal }),
    );
    requireAction(result, "elicitation");
    const { action, content = {} } = result;
    if (action !== "accept") return { action };
    requireSendableResult("What handlers.elicitation returned", methods.elicit, { action, content });
    return { action, content: await complete(content) };
  };
}

function acceptUrl(
  urlElicitation: NonNullable<InputHandlers["urlElicitation"]>,
  params: JsonObject,
): (signal: AbortSignal) => Promise<UrlElicitationResult> {
  const { url } = params;
  // The peer chooses the scheme, so accept only web pages, and nothing that would start a program.
  const protocol = typeof url === "string" && URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol !== "https:" && protocol !== "http:") {
    throw faultyParams({ path: "/url", message: "must be an absolute https or http URL" });
  }
  return async (signal) => {
    // The required members were checked above.
    const result = await inHook("handlers.urlElicitation", () =>
      urlElicitation(params as unknown as ElicitUrlParams, { signal }),
    );
    requireAction(result, "urlElicitation");
    markHandled(result.retry); // Awaited only if a call waits for it.
    return result;
  };
}

function requireAction(result: Pick<ElicitResult, "action">, name: string): void {
  if (isObject(result) && ["accept", "decline", "cancel"].includes(result.action)) return;
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
  if (faults.length > 0) throw faultyParams(...faults);
  return async (signal) => {
    // Checked above.
    const given: unknown = await inHook("handlers.sampling", () =>
      sampling(params as unknown as CreateMessageParams, { signal }),
    );
    // A result that is not an object fails the check.
    const result = isObject(given) ? withEncodedMessages(given) : (given as JsonObject);
    requireSendableResult("What handlers.sampling returned", methods.createMessage, result);
    return result;
  };
}

function acceptRoots({ roots }: InputHandlers): AcceptedRequest {
  if (roots === undefined) throw methodNotFound(methods.listRoots);
  return async (signal) => {
    const given = typeof roots === "function" ? await inHook("handlers.roots", () => roots({ signal })) : roots;
    requireSendableResult("What handlers.roots gives", methods.listRoots, { roots: given });
    return { roots: given };
  };
}

/** −32602, as the specification requires for a part of a capability; a capability that is missing as a whole is −32601. */
function notDeclared(path: string, what: string): RpcError {
  return faultyParams({ path, message: `${what} was not declared by this client` });
}

type Content = NonNullable<ElicitResult["content"]>;

/** The keywords of a form field. Other keywords, such as `pattern`, exist in no revision and are ignored. */
const keywords: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "oneOf",
  "items",
  ...Object.values(fieldKeywords).flat(),
]);

/** Adds the defaults of a form to its content. @throws RpcError −32603 for content that violates the form */
type CompleteContent = (content: Content) => MaybePromise<Content>;

/**
 * Reads a form, before the handler shows it to the user.
 * https://modelcontextprotocol.io/specification/latest/client/elicitation#requested-schema
 *
 * @throws RpcError −32602 for an invalid form
 */
function readForm({ requestedSchema }: JsonObject): CompleteContent {
  const properties = isObject(requestedSchema) ? requestedSchema.properties : undefined;
  if (!isObject(requestedSchema) || !isObject(properties)) {
    throw faultyParams({ path: "/requestedSchema", message: "must be an object with properties" });
  }
  const fields = Object.entries(properties);
  const { check } = compileForm(fields, requestedSchema.required);
  const defaults = formDefaults(requestedSchema);
  return (content) => {
    const given = Object.entries(content).filter(([, value]) => value !== undefined);
    const filled = Object.fromEntries([...Object.entries(defaults), ...given]);
    return andThen(check(filled), (checked) => {
      if (checked.ok) return filled as Content; // The check has validated its values.
      const why = `the answer does not fit the form: ${describe(checked.errors)}`;
      // The error goes to the server: the client does not know which of its calls a request belongs to.
      throw new RpcError(codes.internalError, why);
    });
  };
}

function compileForm(fields: readonly (readonly [string, unknown])[], required: unknown): ReturnType<typeof compile> {
  const plain = fields.map(([name, field]) => [name, plainField(field)]);
  const schema = {
    type: "object",
    properties: Object.fromEntries(plain),
    ...(required === undefined ? {} : { required }),
  };
  try {
    return compile(schema, { trust: "peer", formats: "assert" });
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw faultyParams({ path: `/requestedSchema${error.pointer}`, message: error.message });
  }
}

function plainField(field: unknown): unknown {
  if (!isObject(field)) return field;
  return Object.fromEntries(Object.entries(field).filter(([keyword]) => keywords.has(keyword)));
}

function describe(faults: readonly ParamsFault[]): string {
  return escapeControls(faults.map(({ path, message }) => `${path} ${message}`).join("; ")); // The peer chose the names of the fields.
}
