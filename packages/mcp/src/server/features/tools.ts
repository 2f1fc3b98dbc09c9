import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { andThen, isPromise } from "../../base/maybe-promise.js";
import { invalidParams, type ParamsFault, RpcError, wrongKind } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { iconMembers, toolAnnotationMembers, toolExecutionMembers } from "../../protocol/member-tables.js";
import { requireMetaKeys } from "../../protocol/meta-keys.js";
import { methods } from "../../protocol/methods.js";
import { type MirroredParam, readMirroredParams } from "../../protocol/mirrored-params.js";
import type { Icon } from "../../protocol/types/content.js";
import type { CallToolResult, Tool, ToolAnnotations, ToolExecution } from "../../protocol/types/tools.js";
import {
  type CompiledSchema,
  compileFor,
  type InferInput,
  type InferOutput,
  type InputSchema,
  type Schema,
} from "../../schema/compile.js";
import type { RawShape } from "../../schema/raw-shape.js";
import type { Checked } from "../../schema/schema-fault.js";
import { isStandardSchema } from "../../schema/standard-schema.js";
import type { ToolSchemas, ToolTypes } from "../../schema/tool-types.js";
import { Context, withoutArguments } from "../context.js";
import { type ErrorCodes, missingCodes, speaksCatalogue } from "../error-codes.js";
import { InputRequired } from "../input/input-request.js";
import { InputPending } from "../input/replay.js";
import { requireAccess, requireScopes, type ScopedDefinition } from "../required-scopes.js";
import type { Operation, Servable } from "../servable.js";
import { requireArguments } from "./definition-arguments.js";
import type { Feature, FeatureSettings, MethodCall } from "./feature.js";
import { type Registration, Registry, type Visibility } from "./registry.js";
import {
  checkedResult,
  errorResult,
  isWholeResult,
  type JsonReturn,
  resultOf,
  type SendableResult,
  structuredResult,
  ToolError,
  type ToolErrors,
  type ToolReturn,
} from "./tool-result.js";

/** Definition of a tool: title, description, annotations and schemas. */
export interface ToolDefinition<Input extends InputSchema | undefined, Output extends Schema | undefined>
  extends ScopedDefinition {
  /** For people. Default: the name. */
  readonly title?: string;
  /** For the model: what it does and when to use it. Default: none. */
  readonly description?: string;
  /**
   * Any Standard Schema of an object, its fields alone (`{ a: z.number() }`), or a JSON Schema of type object. A library that
   * does not describe its schemas as JSON Schema needs the package that does. Default: no arguments.
   */
  readonly inputSchema?: Input;
  /** The same for structured output; the handler then returns that, and the text for the model is derived. Default: none. */
  readonly outputSchema?: Output;
  /** Hints on what the tool does, for clients that ask users before a call. Default: none. */
  readonly annotations?: ToolAnnotations;
  /** Icons to display. Default: none. */
  readonly icons?: readonly Icon[];
  /** Whether calls may run as tasks. The handler is the same, and revisions without tasks call it as any other. */
  readonly execution?: ToolExecution;
  /** Metadata of extensions, by prefixed key. Default: none. */
  readonly _meta?: JsonObject;
}

const toolMembers: MembersOf<ToolDefinition<undefined, undefined>> = {
  title: [],
  description: ["desc", "summary"],
  inputSchema: [
    "input",
    "inputs",
    "input_schema",
    "parameters",
    "params",
    "paramsSchema",
    "args",
    "arguments",
    "schema",
  ],
  outputSchema: ["output", "outputs", "output_schema", "result", "results", "resultSchema", "returns"],
  annotations: toolAnnotationMembers,
  icons: iconMembers,
  execution: toolExecutionMembers,
  scopes: ["scope", "requiredScopes", "requireScopes"],
  visible: ["visibility", "isVisible"],
  _meta: ["meta"],
};

/** The type of a schema that may replace another one, so that the handler still gets the arguments that it expects. */
type Replaceable<S> = S extends { readonly "~standard": unknown } | RawShape | undefined ? S : JsonObject;
type Arguments<Input> = Input extends Schema ? InferOutput<Input> : Readonly<Record<string, never>>;
// Handlers are typed while `Output` is still inferred. It is never then, so the question has to lead to ToolReturn for that;
// and nothing here may come to `unknown`, not as a member either, beside which the literals in a block would widen.
type Return<Output> = [Output] extends [undefined] ? ToolReturn : Fitting<Output> | SendableResult;
type StandardSchema = Extract<Schema, { readonly "~standard": unknown }>;
type Fitting<Output> = Output extends StandardSchema
  ? NonNullable<Output["~standard"]["types"]>["input"] & (NonNullable<unknown> | null)
  : Output extends RawShape
    ? InferInput<Output>
    : JsonReturn | string | number | boolean | null;

/** Answers calls of a tool. Throw a `ToolError` for a failure that the model shall read. */
export type ToolHandler<Input extends InputSchema | undefined, Output extends Schema | undefined> = (
  args: Arguments<Input>,
  context: Context,
) => Return<Output> | Promise<Return<Output>>;

/** A tool that is not yet on a server. Made by `tool`. */
export interface DefinedTool<Name extends string = string, Schemas extends ToolSchemas = ToolSchemas> {
  /** The name of the tool. */
  readonly name: Name;
  /** The definition, as it was given. */
  readonly definition: Schemas & AnyToolDefinition;
  /** The handler, as it was given. */
  readonly handler: (args: never, context: Context) => unknown;
}

/** The types of some tools, by name. None is any: they may be added later. */
export type TypesOfTools<Defined extends readonly DefinedTool[]> = Defined extends readonly []
  ? ToolTypes
  : {
      readonly [Tool in Defined[number] as Tool["name"]]: Tool extends DefinedTool<string, infer Schemas>
        ? Schemas
        : never;
    };

/**
 * Defines a tool on its own, e.g. in a file of its own, for `createServer({ tools: [add] })`: then the clients of
 * `connect(server)` know its arguments and results.
 *
 * @example
 * const add = tool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => `${a + b}`);
 * const server = createServer({ name: "adder", version: "1.0.0", tools: [add] });
 *
 * @throws TypeError for a handler that is missing. The server checks the rest
 */
export function tool<
  const Name extends string,
  Input extends InputSchema | undefined = undefined,
  Output extends Schema | undefined = undefined,
>(
  name: Name,
  definition: ToolDefinition<Input, Output>,
  handler: ToolHandler<Input, Output>,
  // Not inferred from where it is used: `createServer({ tools })` takes any schemas.
): DefinedTool<Name, { readonly inputSchema: NoInfer<Input>; readonly outputSchema: NoInfer<Output> }> {
  requireArguments(toolArguments, [name, definition, handler]);
  // The members that were left out are undefined, as the types of their schemas are.
  return { name, definition: definition as { readonly inputSchema: Input; readonly outputSchema: Output }, handler };
}

/** A tool that is served, to be hidden, changed or taken away. */
export type ToolRegistration<Input extends InputSchema | undefined, Output extends Schema | undefined> = Registration<
  ToolDefinition<Replaceable<Input>, Replaceable<Output>>
>;

type AnyToolDefinition = ToolDefinition<InputSchema | undefined, Schema | undefined>;

interface RegisteredTool extends Visibility {
  readonly tool: Tool;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly handler: (args: unknown, context: Context) => unknown;
  readonly mirrored: readonly MirroredParam[];
  readonly scopes: readonly string[] | undefined;
}

const toolArguments = {
  method: "tool",
  definition: "{ description, inputSchema }",
  handler: "(args, ctx) => …",
} as const;
const handlerPlace = "the handler is the third argument of server.tool";
const misplaced = {
  handler: handlerPlace,
  execute: handlerPlace,
  callback: handlerPlace,
  cb: handlerPlace,
  run: handlerPlace,
  name: "the name is the first argument of server.tool",
  readOnlyHint: "it belongs into annotations",
  destructiveHint: "it belongs into annotations",
  idempotentHint: "it belongs into annotations",
  openWorldHint: "it belongs into annotations",
  taskSupport: "it belongs into execution",
} as const;
const noArguments = { type: "object", additionalProperties: false } as const;
const taskSupports: ReadonlySet<unknown> = new Set(["optional", "required", "forbidden", undefined]);
const toolName = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Tools: functions that a model can call.
 * https://modelcontextprotocol.io/specification/latest/server/tools
 */
export class Tools implements Feature {
  readonly #tools: Registry<RegisteredTool>;
  readonly #errorCodes: ErrorCodes;
  readonly #toolErrors: ToolErrors;
  /** Whether tasks are advertised: declared, or any tool was ever defined that may run as one. A capability is never withdrawn. */
  offersTasks: boolean;

  readonly methods: ReadonlyMap<string, MethodCall> = new Map<string, MethodCall>([
    [methods.listTools, ({ cursor }, { auth }) => this.#tools.page(cursor, auth)],
    [methods.callTool, this.#callTool.bind(this)],
  ]);

  constructor({ lists, changes, errorCodes }: FeatureSettings, toolErrors: ToolErrors, declaresTasks: boolean) {
    this.#errorCodes = errorCodes;
    this.#toolErrors = toolErrors;
    this.offersTasks = declaresTasks;
    this.#tools = new Registry({
      ...lists,
      member: "tools",
      key: "name",
      word: "tool",
      shown: ({ tool }) => tool as unknown as JsonObject, // An interface has no index signature; JSON objects do.
      onChange: (visible) => changes.tell({ kind: "list", list: "tools" }, visible),
    });
  }

  get capabilities(): ServerCapabilities | undefined {
    return this.#tools.isOffered ? { tools: { listChanged: true } } : undefined;
  }

  /** Undefined for what is no tool that the caller sees. */
  taskSupport(name: unknown, { auth }: Operation): ToolExecution["taskSupport"] {
    const registered = typeof name === "string" ? this.#tools.get(name, auth) : undefined;
    return registered && (registered.tool.execution?.taskSupport ?? "forbidden");
  }

  /** The scopes that tools require. */
  get scopes(): readonly string[] {
    return Array.from(this.#tools.entries(), ({ scopes = [] }) => scopes).flat();
  }

  /** @throws InsufficientScope. For a call that runs as a task: its caller gets the challenge, and no task */
  requireScopes({ name }: JsonObject, operation: Operation): void {
    const registered = typeof name === "string" ? this.#tools.get(name, operation.auth) : undefined;
    requireScopes(`the tool ${name}`, registered?.scopes, operation);
  }

  /** None for what is no tool that the caller sees. */
  readonly mirroredParams: Servable["mirroredParams"] = (name, auth) =>
    (typeof name === "string" ? this.#tools.get(name, auth)?.mirrored : undefined) ?? [];

  /**
   * @throws TypeError for a name that is taken or not allowed, or an `x-mcp-header` that cannot be; SchemaError for a schema
   * that cannot be served
   */
  define<Input extends InputSchema | undefined, Output extends Schema | undefined>(
    name: string,
    definition: ToolDefinition<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): ToolRegistration<Input, Output> {
    requireArguments(toolArguments, [name, definition, handler]);
    if (!toolName.test(name)) {
      throw new TypeError(
        `A tool may not be called ${JSON.stringify(name)}: 1 to 128 of A-Z a-z 0-9 _ - . are allowed`,
      );
    }
    // `input` makes the arguments what the handler expects.
    const served = handler as RegisteredTool["handler"];
    return this.#tools.add<AnyToolDefinition>(name, definition, (revised) => {
      const compiled = compileTool(name, revised, served);
      this.offersTasks ||= (revised.execution?.taskSupport ?? "forbidden") !== "forbidden";
      return compiled;
    });
  }

  #callTool(params: JsonObject, operation: Operation): unknown {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string") throw invalidParams("Invalid params", [wrongKind("/name", "a string", name)]);
    if (!isObject(args)) throw invalidParams("Invalid params", [wrongKind("/arguments", "an object", args)]);
    const registered = this.#tools.get(name, operation.auth);
    if (registered === undefined) {
      const errors = [{ path: "/name", message: "is not a tool of this server" }];
      throw new RpcError(missingCodes(this.#errorCodes, operation.revision).tool, `Unknown tool: ${name}`, { errors });
    }
    if (registered.scopes !== undefined) requireScopes(`the tool ${name}`, registered.scopes, operation);
    const checked = registered.input.check(args);
    return isPromise(checked)
      ? checked.then((settled) => this.#run(registered, settled, params, operation))
      : this.#run(registered, checked, params, operation);
  }

  #run(registered: RegisteredTool, checked: Checked<unknown>, params: JsonObject, operation: Operation): unknown {
    if (!checked.ok) return this.#refuseArguments(registered.tool.name, checked.errors, operation);
    try {
      const value = registered.handler(checked.value, new Context(operation, params));
      if (!isPromise(value)) return complete(registered, value);
      return Promise.resolve(value)
        .then((settled) => complete(registered, settled))
        .catch((error: unknown) => this.#failed(registered, operation, error));
    } catch (error) {
      return this.#failed(registered, operation, error);
    }
  }

  #failed({ tool: { name } }: RegisteredTool, { report, signal }: Operation, error: unknown): CallToolResult {
    if (error instanceof ToolError) return checkedResult(errorResult(error.content), name);
    // A question that is open is no failure; and what a call throws after it was cancelled goes nowhere.
    const isKept = error instanceof RpcError || error instanceof InputPending || signal.aborted;
    if (this.#toolErrors === "internal" || isKept) throw error;
    report?.({ kind: "fault", method: methods.callTool, name, error });
    return { content: [{ type: "text", text: ToolError.from(error).message }], isError: true };
  }

  /** A result, not an error: the model sees it and can call again with better arguments. The catalogue has it otherwise. */
  #refuseArguments(name: string, errors: readonly ParamsFault[], { revision }: Operation): CallToolResult {
    const message = `Invalid arguments for tool ${name}`;
    if (speaksCatalogue(this.#errorCodes, revision)) {
      const faults = errors.map(({ path, message: why }) => ({ path: `/arguments${path}`, message: why }));
      throw invalidParams(message, faults);
    }
    const lines = errors.map(({ path, message: why }) => `${path === "" ? "arguments" : path}: ${why}`);
    return { content: [{ type: "text", text: `${message}:\n${lines.join("\n")}` }], isError: true };
  }
}

function compileTool(name: string, definition: AnyToolDefinition, handler: RegisteredTool["handler"]): RegisteredTool {
  requireDefinition(name, definition);
  const { inputSchema, outputSchema, scopes, visible, ...words } = definition;
  requireAccess(`The tool ${name}`, definition);
  if (!taskSupports.has(words.execution?.taskSupport)) {
    throw new TypeError(`The taskSupport of the tool ${name} must be optional, required or forbidden`);
  }
  requireMetaKeys(words, `The tool ${name}`);
  const input = compileFor(`The tool ${name}: inputSchema`, inputSchema ?? noArguments, { root: "object" });
  const output =
    outputSchema === undefined
      ? undefined
      : compileFor(`The tool ${name}: outputSchema`, outputSchema, { side: "output" });
  const tool = {
    name,
    ...words,
    inputSchema: input.json,
    ...(output === undefined ? {} : { outputSchema: output.json }),
  };
  const mirrored = mirroredParamsOf(name, input.json);
  const served = inputSchema === undefined ? withoutArguments(handler) : handler;
  // `compile` has checked that the root is of type object.
  return { tool: Object.freeze(tool as Tool), input, output, handler: served, mirrored, scopes, visible };
}

function requireDefinition(name: string, definition: AnyToolDefinition): void {
  const known = new Set(Object.entries(toolMembers).flat(2));
  const members = Object.entries(definition);
  if (members.length > 0 && members.every(([member, value]) => !known.has(member) && isStandardSchema(value))) {
    const fields = members.map(([member]) => member).join(", ");
    const remedy = `write server.tool(${JSON.stringify(name)}, { inputSchema: { ${fields} } }, handler)`;
    throw new TypeError(`The tool ${name}: these are the fields of its inputSchema: ${remedy}`);
  }
  checkMembers(`The tool ${name}`, definition, toolMembers, misplaced);
}

function mirroredParamsOf(tool: string, inputSchema: JsonObject): readonly MirroredParam[] {
  const reading = readMirroredParams(inputSchema);
  if ("params" in reading) return reading.params;
  const [first] = reading.faults;
  throw new TypeError(`The inputSchema of the tool ${tool} cannot be served: ${first?.path} ${first?.message}`);
}

/** The value that the handler returned, checked against the output schema of the tool. */
function complete({ tool, output }: RegisteredTool, value: unknown): unknown {
  if (value instanceof InputRequired) return value;
  if (output === undefined) return resultOf(value, tool.name);
  const whole = isWholeResult(value) ? value : undefined;
  if (whole?.isError === true) return checkedResult(whole, tool.name);
  return andThen(output.check(whole === undefined ? value : whole.structuredContent), (checked) => {
    if (checked.ok) {
      if (whole === undefined) return structuredResult(checked.value, tool.name);
      return checkedResult({ ...whole, structuredContent: checked.value }, tool.name);
    }
    const [first] = checked.errors;
    // A bug of the server, so an internal error: the model could not mend it.
    throw new TypeError(
      `${tool.name} returned what its outputSchema forbids: ${first?.path ?? ""} ${first?.message ?? ""}`,
    );
  });
}
