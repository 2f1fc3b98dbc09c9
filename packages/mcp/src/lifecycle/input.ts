import type { Exchange, RemoteCall } from "../jsonrpc/call.js";
import { codes, RpcError } from "../jsonrpc/errors.js";
import type { ClientCapabilities } from "../protocol/capabilities.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";

/** Something that a handler asks the client: a method that a client answers, and its params in the newest shape. */
export interface Question {
  readonly method: string;
  readonly params: JsonObject;
  /** What the client must have declared. */
  readonly requires: ClientCapabilities;
}

/** Questions by key. A key names a question within its call. */
export type Questions = Readonly<Record<string, Question>>;

/** Answers by the keys of their questions. They come from a peer: each is to be checked against its question. */
export type Answers = Readonly<Record<string, unknown>>;

/** How an operation asks its client, whichever way its revision has for that. */
export interface Input {
  /** Asks several questions at once. @throws RpcError if the client cannot be asked that */
  ask(questions: Questions): Promise<Answers>;
  /** Runs `work` in one round of the call only; every later round gets the value of the first. */
  once(key: string, work: () => unknown): Promise<unknown>;
}

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
  for (const { method, params, requires } of Object.values(questions)) {
    const exists = revision.requests.server.has(method) || revision.inputRequests.has(method);
    if (!exists || !isDeclared(requires as JsonObject, declared)) {
      const code = revision.codes.missingRequiredClientCapability ?? codes.invalidRequest;
      throw new RpcError(code, "Missing required client capability", { requiredCapabilities: requires });
    }
    const several = hasFirstForms(revision) ? fieldOfSeveral(params) : undefined;
    if (several === undefined) continue;
    const which = `the field ${JSON.stringify(several)} of a form lets several be chosen`;
    throw new RpcError(codes.invalidRequest, `${which}, for which revision ${revision.version} has no word`);
  }
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

/** A person may have to think: the idle time is that of the whole question. */
const questionTimeout = 600_000;

/** Asks with requests of the server's own: the handshake era. */
class CallbackInput implements Input {
  readonly #callback: RemoteCall;
  readonly #client: Asked;
  readonly #signal: AbortSignal;
  readonly #done = new Map<string, Promise<unknown>>();

  constructor(callback: RemoteCall, client: Asked, signal: AbortSignal) {
    this.#callback = callback;
    this.#client = client;
    this.#signal = signal;
  }

  async ask(questions: Questions): Promise<Answers> {
    requireAnswerable(questions, this.#client);
    const { revision } = this.#client;
    const options = { signal: this.#signal, timeout: questionTimeout, totalTimeout: questionTimeout };
    const answers = Object.entries(questions).map(async ([key, { method, params }]): Promise<[string, unknown]> => {
      const shaped = revision.down("params", method, params) as JsonObject; // A reshape of an object gives an object.
      return [key, await this.#callback(method, withElicitationId(method, shaped, revision), options)];
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  once(key: string, work: () => unknown): Promise<unknown> {
    const known = this.#done.get(key) ?? Promise.resolve().then(work);
    this.#done.set(key, known);
    return known;
  }
}

/** Undefined on a carrier without a way back. */
export function callbackInput({ callback, signal }: Exchange, client: Asked): Input | undefined {
  return callback === undefined ? undefined : new CallbackInput(callback, client, signal);
}

/** One revision names every visit to a page, so that the server can say later that it is over. */
function withElicitationId(method: string, params: JsonObject, { facts }: Revision): JsonObject {
  const isNamed = method === methods.elicit && params.mode === "url" && facts.elicitation === "form, url with id";
  return isNamed ? { ...params, elicitationId: crypto.randomUUID() } : params;
}
