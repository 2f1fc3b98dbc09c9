import { isObject, type JsonObject } from "../../base/json.js";
import { codes, RpcError } from "../../jsonrpc/errors.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { methods } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import { readDeclared, requiredForInput } from "../../session/input-methods.js";
import type { InputRequests } from "./input-request.js";

/**
 * The client capability that each request for a task requires.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#capabilities
 */
const requiredForTasks: ReadonlyMap<string, ClientCapabilities> = new Map([
  [methods.getTask, { tasks: {} }],
  [methods.taskResult, { tasks: {} }],
  [methods.listTasks, { tasks: { list: {} } }],
  [methods.cancelTask, { tasks: { cancel: {} } }],
]);

/** The client that receives input requests, as an `Operation` has it. */
export interface InputClient {
  readonly revision: Revision;
  readonly client: { readonly capabilities: ClientCapabilities };
}

/**
 * Rejects input requests that the client has not declared or the revision does not have.
 * @throws RpcError naming the capability
 */
export function requireClientCapability(questions: InputRequests, { revision, client }: InputClient): void {
  const declared = readDeclared(revision, client.capabilities);
  for (const { method, params } of Object.values(questions)) {
    const exists = revision.requests.server.has(method) || revision.inputRequests.has(method);
    const requires = requiredForInput(method, params) ?? requiredForTasks.get(method) ?? {};
    if (!exists || !isDeclared(requires as JsonObject, declared)) {
      const code = revision.codes.missingRequiredClientCapability ?? codes.invalidRequest;
      const lacking = pathsOf(requires as JsonObject).join(", ") || method;
      const isOlder = !exists || !isDeclared(requires as JsonObject, readDeclared(revision, requires));
      const remark = isOlder ? `, which revision ${revision.version} does not have` : "";
      // Most hosts show the message alone, so it names what is missing, as well as `data` does.
      const message = `Missing required client capability: ${lacking}${remark}`;
      throw new RpcError(code, message, { requiredCapabilities: requires });
    }
    // The first forms had no modes beside them, and no choice of several.
    const several = revision.facts.elicitation === "form" ? fieldOfSeveral(params) : undefined;
    if (several === undefined) continue;
    const lacking = `revision ${revision.version} has no form field for several choices, such as ${JSON.stringify(several)}`;
    throw new RpcError(codes.invalidRequest, `${lacking}: ask for one choice, or for text`);
  }
}

/** The error where no request can be sent to the client, whatever it has declared: HTTP without sessions, before 2026-07-28. */
export function cannotRequestInput({ version }: Revision): RpcError {
  const message = `Input cannot be requested from clients of ${version} here: it takes a session (sessions: false)`;
  return new RpcError(codes.invalidRequest, message, {
    reason: "the server has no way to send requests to the client",
  });
}

/** The innermost members, e.g. `elicitation.form`. */
function pathsOf(required: JsonObject): readonly string[] {
  return Object.entries(required).flatMap(([name, inner]) => {
    const paths = isObject(inner) ? pathsOf(inner) : [];
    return paths.length === 0 ? [name] : paths.map((path) => `${name}.${path}`);
  });
}

/** Nothing else that an older form has would ask the same: several fields, or a text, are another question. */
function fieldOfSeveral({ requestedSchema }: JsonObject): string | undefined {
  const fields = isObject(requestedSchema) && isObject(requestedSchema.properties) ? requestedSchema.properties : {};
  return Object.keys(fields).find((name) => isObject(fields[name]) && fields[name].type === "array");
}

/** Every member that is required is there, at every depth. */
function isDeclared(required: JsonObject, declared: unknown): boolean {
  if (!isObject(declared)) return false;
  return Object.entries(required).every(([name, inner]) => isDeclared(inner as JsonObject, declared[name]));
}
