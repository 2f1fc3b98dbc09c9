import { isObject, type JsonObject } from "../base/json.js";
import type { ParamsFault } from "../jsonrpc/errors.js";
import { excerpt } from "../jsonrpc/report.js";
import type { ClientCapabilities } from "../protocol/capabilities.js";
import { methods, notifications } from "../protocol/methods.js";
import type { Revision } from "../protocol/revisions/revision.js";
import { involvesTools } from "../protocol/sampling-checks.js";
import { firstFault, jsonFault, messageFault, metaFault, shapeFault, unsendable } from "../protocol/sendable.js";
import type { Root } from "../protocol/types/roots.js";

/** A method with which a server requests input from its client. */
interface InputMethod {
  /** The client capability that a request with these params requires. */
  requires(params: JsonObject): ClientCapabilities;
  /** The first fault that prevents the server from sending params. */
  paramsFault(params: JsonObject): ParamsFault | undefined;
  /** The first fault that prevents the client from sending a result. */
  resultFault(result: JsonObject): ParamsFault | undefined;
}

/**
 * The requests for client input: elicitation, sampling and roots.
 * https://modelcontextprotocol.io/specification/latest/client
 */
const inputMethods: ReadonlyMap<string, InputMethod> = new Map<string, InputMethod>([
  [
    methods.elicit,
    {
      requires: ({ mode }) => ({ elicitation: mode === "url" ? { url: {} } : { form: {} } }),
      paramsFault: (params) => shapeFault("ElicitRequestParams", params, ""),
      resultFault: (result) => shapeFault("ElicitResult", result, "") ?? jsonFault(result.content, "/content"),
    },
  ],
  [
    methods.createMessage,
    {
      requires: (params) => ({ sampling: involvesTools(params) ? { tools: {} } : {} }),
      paramsFault(params) {
        const { messages, metadata, tools, _meta } = params;
        return (
          shapeFault("CreateMessageRequestParams", params, "") ??
          metaFault(_meta, "/_meta") ??
          // The shape has checked that they are an array of objects.
          firstFault(messages as readonly JsonObject[], (each, index) => messageFault(each, `/messages/${index}`)) ??
          jsonFault({ metadata, tools }, "")
        );
      },
      resultFault: (result) => shapeFault("CreateMessageResult", result, "") ?? messageFault(result, ""),
    },
  ],
  [
    methods.listRoots,
    {
      requires: () => ({ roots: {} }),
      paramsFault: () => undefined,
      resultFault: (result) =>
        shapeFault("ListRootsResult", result, "") ??
        // The shape has checked that they are an array of roots.
        firstFault(result.roots as readonly Root[], (root, index) => rootFault(root, `/roots/${index}`)),
    },
  ],
]);

/** https://modelcontextprotocol.io/specification/latest/client/roots#root */
function rootFault({ uri, _meta }: Root, path: string): ParamsFault | undefined {
  if (uri.startsWith("file://")) return metaFault(_meta, `${path}/_meta`);
  const message = `must be a file:// URI, got ${excerpt(uri)}: see pathToFileURL of node:url`;
  return { path: `${path}/uri`, message };
}

/** The client capability that an input request requires; undefined for other methods. */
export function requiredForInput(method: string, params: JsonObject): ClientCapabilities | undefined {
  return inputMethods.get(method)?.requires(params);
}

/** @throws TypeError for params that break the shape of the method, or that JSON would change */
export function requireSendableParams(method: string, params: JsonObject): void {
  const fault = inputMethods.get(method)?.paramsFault(params);
  if (fault !== undefined) throw unsendable(method, fault);
}

/**
 * @param what the origin of the result, for the error message
 * @throws TypeError for a result that breaks the shape of the method, or that JSON would change
 */
export function requireSendableResult(what: string, method: string, result: JsonObject): void {
  const fault = inputMethods.get(method)?.resultFault(result);
  if (fault !== undefined) throw unsendable(what, fault);
}

type Elicitation = ClientCapabilities["elicitation"];

/** Client capabilities as a client declares them in a revision: without those that the revision does not have. */
export function declaredIn(revision: Revision, capabilities: ClientCapabilities): ClientCapabilities {
  return limitTo(revision, capabilities, hasForms(capabilities.elicitation) ? {} : undefined);
}

/**
 * Capabilities that a client declared in a revision, in the newest shape and with each mode of elicitation by its name. Members that the
 * revision does not have are ignored.
 */
export function readDeclared(revision: Revision, declared: ClientCapabilities): ClientCapabilities {
  const { elicitation } = declared;
  const isForms = isObject(elicitation) && hasForms(elicitation);
  return limitTo(revision, isForms ? { ...declared, elicitation: { form: {}, ...elicitation } } : declared, {
    form: {},
  });
}

/** @param formsOnly the value of `elicitation` for a revision without modes */
function limitTo(revision: Revision, given: ClientCapabilities, formsOnly: Elicitation): ClientCapabilities {
  const { roots, sampling, elicitation, tasks, ...rest } = given;
  const { facts, notifications: sent } = revision;
  // A peer may declare values that are not objects: they declare nothing.
  const listChanged = roots?.listChanged === true && sent.client.has(notifications.rootsChanged);
  const modes = facts.elicitation === "form" ? formsOnly : elicitation;
  return {
    ...rest,
    ...(isObject(roots) && { roots: listChanged ? { listChanged } : {} }),
    ...(isObject(sampling) && { sampling: facts.samplingTools ? sampling : {} }),
    ...(isObject(elicitation) && modes && facts.elicitation !== "none" && { elicitation: modes }),
    ...(tasks && facts.tasks === "core" && { tasks }),
  };
}

/** An empty object means forms. */
function hasForms(elicitation: Elicitation = {}): boolean {
  return elicitation.form !== undefined || elicitation.url === undefined;
}

/** The keywords that the specification allows for a field of a form, by its type, besides its labels and choices. */
export const fieldKeywords: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "format"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  boolean: [],
  array: ["minItems", "maxItems"],
};

/** The defaults of the fields of a form, by name. In JSON Schema a default is an annotation: it is filled in where content is read. */
export function formDefaults({ properties }: JsonObject): JsonObject {
  const fields = isObject(properties) ? Object.entries(properties) : [];
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (isObject(field) && field.default !== undefined ? [[name, field.default]] : [])),
  );
}
