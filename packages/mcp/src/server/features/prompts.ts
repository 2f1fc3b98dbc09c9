import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import { andThen, type MaybePromise } from "../../base/maybe-promise.js";
import { faultyParams, invalidParamsOf, type ParamsFault, RpcError, wrongKind } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { iconMembers, promptArgumentMembers } from "../../protocol/member-tables.js";
import { requireMetaKeys } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import {
  blockMetaFault,
  encodeBytes,
  firstFault,
  metaFault,
  type SendableContent,
  shapeFault,
  unsendable,
} from "../../protocol/sendable.js";
import type { GetPromptResult, Prompt, PromptArgument, PromptMessage } from "../../protocol/types/prompts.js";
import { type CompiledSchema, compile, compileFor, type InferOutput, type Schema } from "../../schema/compile.js";
import { isRawShape, type RawShape } from "../../schema/raw-shape.js";
import { Context, withoutArguments } from "../context.js";
import { type ErrorCodes, missingCodes } from "../error-codes.js";
import { InputRequired } from "../input/input-request.js";
import { requireAccess, requireScopes, type ScopedDefinition } from "../required-scopes.js";
import type { Operation } from "../servable.js";
import { type Completed, type Completers, type CompletionSource, completersFor } from "./completion.js";
import { requireArguments } from "./definition-arguments.js";
import type { Feature, FeatureSettings, MethodCall } from "./feature.js";
import { type Registration, Registry, type ServedDefinition } from "./registry.js";

/** Definition of a prompt: title, description and arguments. */
export interface PromptDefinition<Arguments extends PromptArguments | undefined = undefined>
  extends Omit<Prompt, "name" | "arguments">,
    ScopedDefinition {
  /** By name; or any Standard Schema of an object of strings. Default: none. */
  readonly arguments?: Arguments;
  /** Suggestions, by the name of the argument. Default: none. */
  readonly complete?: Completers<ArgumentName<Arguments>>;
}

const promptMembers: MembersOf<PromptDefinition> = {
  title: ["string"],
  description: ["string", "desc", "summary"],
  arguments: ["any", "args", "argsSchema", "inputSchema", "input", "parameters", "params", "schema"],
  complete: ["object", "completers", "completion", "completions"],
  scopes: ["strings", "scope", "requiredScopes", "requireScopes"],
  visible: ["function", "visibility", "isVisible"],
  icons: iconMembers,
  _meta: ["object", "meta"],
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

interface ServedPrompt extends ServedDefinition {
  readonly input: CompiledSchema;
  readonly completers: Completers;
  readonly handler: (args: unknown, context: Context) => unknown;
}

const misplaced = {
  handler: "the handler is the third argument of server.prompt",
  name: "the name is the first argument of server.prompt",
} as const;

/** Names that a client can show unchanged, and send back. */
const promptName = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/**
 * Prompts: messages that a server keeps for people to use.
 * https://modelcontextprotocol.io/specification/latest/server/prompts
 */
export class Prompts implements Feature, CompletionSource {
  readonly #prompts: Registry<ServedPrompt>;
  readonly #errorCodes: ErrorCodes;
  completes = false;

  readonly methods: ReadonlyMap<string, MethodCall> = new Map<string, MethodCall>([
    [methods.listPrompts, ({ cursor }, { auth }) => this.#prompts.page(cursor, auth)],
    [methods.getPrompt, (params, operation) => this.#get(params, operation)],
  ]);

  constructor(settings: FeatureSettings) {
    this.#errorCodes = settings.errorCodes;
    this.#prompts = new Registry(settings, { member: "prompts", key: "name", word: "prompt", list: "prompts" });
  }

  get capabilities(): ServerCapabilities | undefined {
    return this.#prompts.isOffered ? { prompts: { listChanged: true } } : undefined;
  }

  /** The scopes that prompts require. */
  get scopes(): readonly string[] {
    return Array.from(this.#prompts.entries(), ({ scopes = [] }) => scopes).flat();
  }

  completersOf(name: string, { auth }: Operation): Completed | undefined {
    return this.#prompts.get(name, auth);
  }

  /** @throws TypeError for a name that is taken or not allowed, or arguments that are no strings */
  define<Arguments extends PromptArguments | undefined>(
    name: string,
    definition: PromptDefinition<Arguments>,
    handler: PromptHandler<Arguments>,
  ): PromptRegistration<Arguments> {
    requireArguments("prompt", name, definition, handler);
    if (!promptName.test(name)) {
      throw new TypeError(
        `A prompt may not be called ${JSON.stringify(name)}: 1 to 128 characters, none of them a control character`,
      );
    }
    return this.#prompts.add<AnyPromptDefinition>(name, definition, (revised) => {
      // The compiled check gives the arguments the types that the handler expects.
      const served = servePrompt(name, revised, handler as ServedPrompt["handler"]);
      this.completes ||= Object.keys(served.completers).length > 0;
      return served;
    });
  }

  #get(params: JsonObject, operation: Operation): unknown {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string") throw faultyParams(wrongKind("/name", "a string", name));
    if (!isObject(args)) throw faultyParams(wrongKind("/arguments", "an object", args));
    const prompt = this.#prompts.get(name, operation.auth);
    if (prompt === undefined) {
      const errors = [{ path: "/name", message: "is not a prompt of this server" }];
      const { prompt: code } = missingCodes(this.#errorCodes, operation.revision);
      throw new RpcError(code, `Unknown prompt: ${name}`, { errors });
    }
    requireScopes(`the prompt ${name}`, prompt.scopes, operation);
    return andThen(prompt.input.check(args), (checked) => {
      if (checked.ok)
        return andThen(prompt.handler(checked.value, new Context(operation, params)), (value) =>
          value instanceof InputRequired ? value : promptResult(value, name),
        );
      const errors = checked.errors.map(({ path, message }) => ({ path: `/arguments${path}`, message }));
      throw invalidParamsOf(`Invalid arguments for prompt ${name}`, errors);
    });
  }
}

/** The mark that `completable` of the official SDK leaves on a schema. */
const ofCompletable = Symbol.for("mcp.completable");

function servePrompt(name: string, definition: AnyPromptDefinition, handler: ServedPrompt["handler"]): ServedPrompt {
  checkMembers(`The prompt ${name}`, definition, promptMembers, misplaced);
  const { arguments: given, complete, scopes, visible, ...words } = definition;
  for (const [argument, schema] of Object.entries(given ?? {})) {
    if (!isObject(schema) || !(ofCompletable in schema)) continue;
    const remedy = `write arguments: { ${argument}: … } without it, and complete: { ${argument}: (typed) => […] }`;
    throw new TypeError(`The prompt ${name}: completable() of the official SDK has no effect here: ${remedy}`);
  }
  requireAccess(`The prompt ${name}`, definition);
  requireMetaKeys(words, `The prompt ${name}`);
  const { input, shown } = compileArguments(given);
  const names = shown.map((argument) => argument.name);
  return {
    shown: Object.freeze({ name, ...words, ...(shown.length === 0 ? {} : { arguments: shown }) }),
    input,
    completers: completersFor(complete, names, `The prompt ${name}`),
    handler: given === undefined ? withoutArguments(handler) : handler,
    scopes,
    visible,
  };
}

/** One message of a prompt as a handler may give it: the data of images, audio and embedded resources may be bytes. */
export interface SendableMessage extends Omit<PromptMessage, "content"> {
  /** The content of the message; binary data may be bytes. */
  readonly content: SendableContent;
}

/** A whole result as a handler may give it. */
export interface SendablePrompt extends Omit<GetPromptResult, "messages"> {
  /** The messages, in order. */
  readonly messages: readonly SendableMessage[];
}

/** Return value of a prompt handler: text or a block of a user message, messages, or a whole result. */
export type PromptReturn = string | SendableContent | SendableMessage | readonly SendableMessage[] | SendablePrompt;

/**
 * A whole result from whatever a handler has returned, with its bytes in base64.
 * @param prompt its name, for the message
 * @throws TypeError for what cannot be sent, with the place in the result and the remedy: a bug of the handler
 */
function promptResult(value: unknown, prompt: string): GetPromptResult {
  const what = `The result of the prompt ${prompt}`;
  const given = resultOf(value, what);
  const messages = given.messages.map(encodeMessage);
  const result = { ...given, messages };
  const fault =
    firstFault(messages, messageFault) ??
    shapeFault("GetPromptResult", { resultType: "complete", ...result }, "") ??
    metaFault(given._meta, "/_meta") ??
    firstFault(messages, (message, index) =>
      blockMetaFault((message as JsonObject).content, `/messages/${index}/content`),
    );
  if (fault !== undefined) throw unsendable(what, fault);
  return result as unknown as GetPromptResult; // Checked just above.
}

/** The remedy for texts and blocks where messages are due: alone, a handler may return them. */
function messageFault(message: unknown, index: number): ParamsFault | undefined {
  const path = `/messages/${index}`;
  if (typeof message === "string") {
    const whole = '{ role: "user", content: { type: "text", text: "…" } }';
    return { path, message: `must be a message, got a string: write ${whole}, or return one text` };
  }
  if (!isObject(message) || "role" in message || typeof message.type !== "string") return undefined;
  return { path, message: 'must be a message, got a content block: write { role: "user", content: block }' };
}

function encodeMessage(message: unknown): unknown {
  return isObject(message) ? { ...message, content: encodeBytes(message.content) } : message;
}

function resultOf(value: unknown, what: string): JsonObject & { readonly messages: readonly unknown[] } {
  if (typeof value === "string") return { messages: [{ role: "user", content: { type: "text", text: value } }] };
  if (Array.isArray(value)) return { messages: value };
  if (isObject(value)) {
    if (Array.isArray(value.messages)) return { ...value, messages: value.messages };
    if ("role" in value) return { messages: [value] };
    if (typeof value.type === "string") return { messages: [{ role: "user", content: value }] };
  }
  const message = `must be text, a content block, messages, or a whole result, got ${kindOf(value)}`;
  throw unsendable(what, { path: "", message });
}

/** A schema of any library that speaks Standard Schema. */
type StandardSchema = Extract<Schema, { readonly "~standard": unknown }>;

type ArgumentWords = Omit<PromptArgument, "name">;

/** Arguments of a prompt: by name, as descriptions or schemas, or one Standard Schema of an object of strings. */
export type PromptArguments = Readonly<Record<string, ArgumentWords>> | StandardSchema | RawShape;

/** Refuses members that the words for an argument do not have: a type parameter takes any. */
export type KnownWords<Arguments> = Arguments extends StandardSchema | RawShape | undefined
  ? unknown
  : {
      readonly arguments?: {
        readonly [Name in keyof Arguments]: {
          readonly [Word in Exclude<keyof Arguments[Name], keyof ArgumentWords>]: never;
        };
      };
    };

/** The type of arguments that may replace others: the same names, so that the handler gets the arguments that it expects. */
export type ReplaceableArguments<Arguments> = Arguments extends StandardSchema | RawShape | undefined
  ? Arguments
  : {
      readonly [Name in keyof Arguments]: Arguments[Name] extends { readonly required: true }
        ? ArgumentWords & { readonly required: true }
        : ArgumentWords;
    };

/** The arguments as a handler gets them. */
export type ArgumentsOf<Arguments> = Arguments extends StandardSchema | RawShape
  ? InferOutput<Arguments>
  : Arguments extends undefined
    ? Readonly<Record<string, never>>
    : { readonly [Name in RequiredName<Arguments>]: string } & {
        readonly [Name in Exclude<keyof Arguments, RequiredName<Arguments>>]?: string;
      };

/** The name of an argument. */
export type ArgumentName<Arguments> = Arguments extends StandardSchema
  ? keyof InferOutput<Arguments> & string
  : keyof Arguments & string;

type RequiredName<Arguments> = {
  [Name in keyof Arguments]: Arguments[Name] extends { readonly required: true } ? Name : never;
}[keyof Arguments];

/** Arguments as they are served: what checks them, and what a list shows of them. */
export interface CompiledArguments {
  readonly input: CompiledSchema;
  readonly shown: readonly PromptArgument[];
}

/**
 * Makes a check and a list of what a prompt is filled in with.
 * @throws TypeError for an argument that is not a string; SchemaError for a schema that cannot be served
 */
function compileArguments(given: PromptArguments = {}): CompiledArguments {
  if (isStandard(given) || isRawShape(given)) {
    const input = compileFor("arguments", given, { root: "object" });
    return { input, shown: shownOf(input.json) };
  }
  if (Array.isArray(given)) {
    throw new TypeError(
      "The arguments of a prompt are an object by their names, not an array: { topic: { description, required } }",
    );
  }
  for (const [name, words] of Object.entries(given)) checkMembers(`The argument ${name}`, words, promptArgumentMembers);
  const shown = Object.entries(given).map(([name, words]) => ({ name, ...words }));
  const schema = {
    type: "object",
    properties: Object.fromEntries(shown.map(({ name }) => [name, { type: "string" }])),
    required: shown.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  };
  return { input: compile(schema), shown };
}

function isStandard(given: PromptArguments): given is StandardSchema {
  return "~standard" in given;
}

/** The properties of a schema as `prompts/list` has them: name, title, description and `required`. */
function shownOf({ properties = {}, required = [] }: JsonObject): readonly PromptArgument[] {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const { title, description } = isObject(property) ? property : ({} as JsonObject);
    if (!isText(property)) {
      throw new TypeError(
        `The argument ${JSON.stringify(name)} of a prompt must be a string: it has no other type on the wire`,
      );
    }
    return {
      name,
      ...(typeof title === "string" ? { title } : {}),
      ...(typeof description === "string" ? { description } : {}),
      ...(needed.includes(name) ? { required: true } : {}),
    };
  });
}

/** True for a schema that says itself, in one of the ways in which libraries say it, that its values are strings. */
function isText(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, const: only, enum: some, anyOf = schema.oneOf } = schema;
  if (type === "string" || typeof only === "string") return true;
  if (Array.isArray(some)) return some.every((value) => typeof value === "string");
  return Array.isArray(anyOf) && anyOf.length > 0 && anyOf.every(isText);
}
