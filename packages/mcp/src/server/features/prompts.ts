import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { andThen, type MaybePromise } from "../../base/maybe-promise.js";
import { invalidParams, RpcError } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { iconMembers } from "../../protocol/member-tables.js";
import { requireMetaKeys } from "../../protocol/meta-keys.js";
import { methods } from "../../protocol/methods.js";
import type { Prompt } from "../../protocol/types/prompts.js";
import type { CompiledSchema } from "../../schema/compile.js";
import { Context } from "../context.js";
import { type ErrorCodes, missingCodes } from "../error-codes.js";
import { InputRequired } from "../input/rounds.js";
import type { Operation } from "../servable.js";
import { type Completers, type CompletionSource, completersFor } from "./completion.js";
import { requireArguments } from "./definition-arguments.js";
import type { Feature, FeatureHost, MethodCall } from "./feature.js";
import {
  type ArgumentName,
  type ArgumentsOf,
  compileArguments,
  type PromptArguments,
  type ReplaceableArguments,
} from "./prompt-arguments.js";
import { type PromptReturn, promptResult } from "./prompt-result.js";
import { type Registration, Registry } from "./registry.js";
import { wrongKind } from "./wrong-kind.js";

/** Definition of a prompt: title, description and arguments. */
export interface PromptDefinition<Arguments extends PromptArguments | undefined = undefined>
  extends Omit<Prompt, "name" | "arguments"> {
  /** By name; or any Standard Schema of an object of strings. Default: none. */
  readonly arguments?: Arguments;
  readonly complete?: Completers<ArgumentName<Arguments>>;
}

const promptMembers: MembersOf<PromptDefinition> = {
  title: [],
  description: ["desc", "summary"],
  arguments: ["args", "argsSchema", "inputSchema", "input", "parameters", "params", "schema"],
  complete: ["completers", "completion", "completions"],
  icons: iconMembers,
  _meta: ["meta"],
};

/** Makes the messages of a prompt. */
export type PromptHandler<Arguments extends PromptArguments | undefined = undefined> = (
  args: ArgumentsOf<Arguments>,
  context: Context,
) => MaybePromise<PromptReturn | InputRequired>;

/** A prompt that is served, to be hidden, changed or taken away. */
export type PromptRegistration<Arguments extends PromptArguments | undefined> = Registration<
  PromptDefinition<ReplaceableArguments<Arguments>>
>;

type AnyPromptDefinition = PromptDefinition<PromptArguments | undefined>;

interface ServedPrompt {
  readonly shown: JsonObject;
  readonly input: CompiledSchema;
  readonly completers: Completers;
  readonly handler: (args: unknown, context: Context) => unknown;
}

const promptDefinition = {
  method: "prompt",
  definition: "{ description, arguments }",
  handler: "(args, ctx) => …",
} as const;
const misplaced = {
  handler: "the handler is the third argument of server.prompt",
  name: "the name is the first argument of server.prompt",
} as const;

/** What a client may show as it is, and send back. */
const promptName = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/**
 * Prompts: messages that a server keeps for people to use.
 * https://modelcontextprotocol.io/specification/latest/server/prompts
 */
export class Prompts implements Feature, CompletionSource {
  readonly #prompts: Registry<ServedPrompt>;
  readonly #errorCodes: ErrorCodes;
  #completes = false;

  readonly methods: ReadonlyMap<string, MethodCall> = new Map<string, MethodCall>([
    [methods.listPrompts, ({ cursor }) => this.#prompts.page(cursor)],
    [methods.getPrompt, (params, operation) => this.#get(params, operation)],
  ]);

  constructor(host: FeatureHost) {
    this.#errorCodes = host.errorCodes;
    this.#prompts = new Registry({
      ...host.lists,
      member: "prompts",
      key: "name",
      word: "prompt",
      shown: ({ shown }) => shown,
      onChange: () => host.changed("prompts"),
    });
  }

  get capabilities(): ServerCapabilities | undefined {
    return this.#prompts.isOffered ? { prompts: { listChanged: true } } : undefined;
  }

  get completes(): boolean {
    return this.#completes;
  }

  completersOf(name: string): Completers | undefined {
    return this.#prompts.get(name)?.completers;
  }

  /** @throws TypeError for a name that is taken or not allowed, or arguments that are no strings */
  define<Arguments extends PromptArguments | undefined>(
    name: string,
    definition: PromptDefinition<Arguments>,
    handler: PromptHandler<Arguments>,
  ): PromptRegistration<Arguments> {
    requireArguments(promptDefinition, [name, definition, handler]);
    if (!promptName.test(name)) {
      throw new TypeError(
        `A prompt may not be called ${JSON.stringify(name)}: 1 to 128 characters, none of them a control character`,
      );
    }
    return this.#prompts.add<AnyPromptDefinition>(name, definition, (revised) => {
      // What is compiled makes the arguments what the handler expects.
      const served = servePrompt(name, revised, handler as ServedPrompt["handler"]);
      this.#completes ||= Object.keys(served.completers).length > 0;
      return served;
    });
  }

  #get(params: JsonObject, operation: Operation): unknown {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string") throw invalidParams("Invalid params", [wrongKind("/name", "a string", name)]);
    if (!isObject(args)) throw invalidParams("Invalid params", [wrongKind("/arguments", "an object", args)]);
    const prompt = this.#prompts.get(name);
    if (prompt === undefined) {
      const errors = [{ path: "/name", message: "is not a prompt of this server" }];
      const { prompt: code } = missingCodes(this.#errorCodes, operation.revision);
      throw new RpcError(code, `Unknown prompt: ${name}`, { errors });
    }
    return andThen(prompt.input.check(args), (checked) => {
      if (checked.ok)
        return andThen(prompt.handler(checked.value, new Context(operation, params)), (value) => resultOf(value, name));
      const errors = checked.errors.map(({ path, message }) => ({ path: `/arguments${path}`, message }));
      throw invalidParams(`Invalid arguments for prompt ${name}`, errors);
    });
  }
}

function servePrompt(name: string, definition: AnyPromptDefinition, handler: ServedPrompt["handler"]): ServedPrompt {
  checkMembers(`The prompt ${name}`, definition, promptMembers, misplaced);
  const { arguments: given, complete, ...words } = definition;
  requireMetaKeys(words, `The prompt ${name}`);
  const { input, shown } = compileArguments(given);
  const names = shown.map((argument) => argument.name);
  return {
    shown: Object.freeze({ name, ...words, ...(shown.length === 0 ? {} : { arguments: shown }) }),
    input,
    completers: completersFor(complete, names, `The prompt ${name}`),
    handler,
  };
}

function resultOf(value: unknown, name: string): unknown {
  return value instanceof InputRequired ? value : promptResult(value, name);
}
