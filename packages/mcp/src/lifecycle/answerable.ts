import { codes, RpcError } from "../jsonrpc/errors.js";
import type { ClientCapabilities } from "../protocol/capabilities.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import { involvesTools } from "../protocol/sampling-faults.js";
import type { Revision } from "../revisions/revision.js";
import type { Questions } from "./question.js";

type Need = (params: JsonObject) => ClientCapabilities;

/** What a client must have declared to be asked so, by method. https://modelcontextprotocol.io/specification/latest/basic#capabilities */
const needs: ReadonlyMap<string, Need> = new Map<string, Need>([
  [methods.listRoots, () => ({ roots: {} })],
  [methods.createMessage, (params) => ({ sampling: involvesTools(params) ? { tools: {} } : {} })],
  [methods.elicit, ({ mode }) => ({ elicitation: mode === "url" ? { url: {} } : { form: {} } })],
  [methods.getTask, () => ({ tasks: {} })],
  [methods.taskResult, () => ({ tasks: {} })],
  [methods.listTasks, () => ({ tasks: { list: {} } })],
  [methods.cancelTask, () => ({ tasks: { cancel: {} } })],
]);

/** Whom questions go to. */
export interface Asked {
  readonly revision: Revision;
  readonly capabilities: ClientCapabilities;
}

/**
 * Nothing is asked that a client has not declared, or that the revision does not have.
 * @throws RpcError naming the capability
 */
export function requireAnswerable(questions: Questions, { revision, capabilities }: Asked): void {
  const declared = known(capabilities, revision);
  for (const { method, params } of Object.values(questions)) {
    const exists = revision.requests.server.has(method) || revision.inputRequests.has(method);
    const requires = needs.get(method)?.(params) ?? {};
    if (!exists || !isDeclared(requires as JsonObject, declared)) {
      const code = revision.codes.missingRequiredClientCapability ?? codes.invalidRequest;
      const lacking = pathsOf(requires as JsonObject).join(", ") || method;
      // Most hosts show the message alone, so it names what is missing, as well as `data` does.
      throw new RpcError(code, `Missing required client capability: ${lacking}`, { requiredCapabilities: requires });
    }
    const several = hasFirstForms(revision) ? fieldOfSeveral(params) : undefined;
    if (several === undefined) continue;
    const which = `the field ${JSON.stringify(several)} of a form lets several be chosen`;
    throw new RpcError(codes.invalidRequest, `${which}, for which revision ${revision.version} has no word`);
  }
}

/** The innermost members, e.g. `elicitation.form`. */
function pathsOf(required: JsonObject): readonly string[] {
  return Object.entries(required).flatMap(([name, inner]) => {
    const paths = isObject(inner) ? pathsOf(inner) : [];
    return paths.length === 0 ? [name] : paths.map((path) => `${name}.${path}`);
  });
}

/** The first forms had no modes beside them, and no choice of several. */
function hasFirstForms({ facts }: Revision): boolean {
  return facts.elicitation === "form";
}

/** What was declared, as far as the revision has it: a client may say more than it speaks. */
function known({ elicitation, sampling, ...rest }: ClientCapabilities, revision: Revision): ClientCapabilities {
  return {
    ...rest,
    ...(isObject(elicitation) && { elicitation: hasFirstForms(revision) ? {} : elicitation }),
    ...(isObject(sampling) && { sampling: revision.facts.samplingTools ? sampling : {} }),
  };
}

/** Nothing else that an older form has would ask the same: several fields, or a text, are another question. */
function fieldOfSeveral({ requestedSchema }: JsonObject): string | undefined {
  const fields = isObject(requestedSchema) && isObject(requestedSchema.properties) ? requestedSchema.properties : {};
  return Object.keys(fields).find((name) => isObject(fields[name]) && fields[name].type === "array");
}

/** Every member that is required is there, at every depth. An empty `elicitation` means forms. */
function isDeclared(required: JsonObject, declared: unknown): boolean {
  if (!isObject(declared)) return false;
  return Object.entries(required).every(([name, inner]) => {
    const given = declared[name];
    const isForms = name === "elicitation" && isObject(given) && given.form === undefined && given.url === undefined;
    return isDeclared(inner as JsonObject, isForms ? { form: {} } : given);
  });
}
