import { after, isPromise } from "../base/later.js";
import { invalidParams, type ParamsFault, RpcError } from "../jsonrpc/errors.js";
import { InputRequired } from "../lifecycle/rounds.js";
import type { Operation } from "../lifecycle/served.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Icon } from "../protocol/content.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { requireBlockMeta, requireMetaKeys } from "../protocol/meta-keys.js";
import { methods } from "../protocol/methods.js";
import { type MirroredParam, readMirroredParams } from "../protocol/mirrored-params.js";
import type { CallToolResult, Tool, ToolAnnotations, ToolExecution } from "../protocol/tools.js";
import { type CompiledSchema, compile, type InferInput, type InferOutput, type Schema } from "../schema/compile.js";
import { Context } from "./context.js";
import { type ErrorCodes, missingCodes, speaksCatalogue } from "./error-codes.js";
import { ToolError } from "./errors.js";
import { wrongKind } from "./faults.js";
import type { Feature, FeatureHost, MethodCall } from "./feature.js";
import { type Registration, Registry } from "./registry.js";
import { errorResult, type FreeReturn, isWholeResult, resultOf, structuredResult } from "./tool-result.js";

/** What a tool is: its words for people and models, and its schemas. */
export interface ToolDefinition<Input extends Schema | undefined, Output extends Schema | undefined> {
  /** For people. Default: the name. */
  readonly title?: string;
  /** For the model: what it does and when to use it. */
  readonly description?: string;
  /** Any Standard Schema with a JSON Schema side, or a JSON Schema of type object. Default: no arguments. */
  readonly inputSchema?: Input;
  /** The same for structured output; the handler then returns that, and the text for the model is derived. */
  readonly outputSchema?: Output;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly Icon[];
  /** Whether calls may run as tasks. The handler is the same, and revisions without tasks call it as any other. */
  readonly execution?: ToolExecution;
  readonly _meta?: JsonObject;
}

/** What may take the place of a schema: its like, so that the handler still gets what it expects. */
type Replaceable<S> = S extends { readonly "~standard": unknown } | undefined ? S : JsonObject;
type Arguments<Input> = Input extends Schema ? InferOutput<Input> : Readonly<Record<string, never>>;
type Return<Output> = Output extends Schema ? InferInput<Output> | CallToolResult : FreeReturn;

/** Answers calls of a tool. Throw a `ToolError` for a failure that the model shall read. */
export type ToolHandler<Input extends Schema | undefined, Output extends Schema | undefined> = (
  args: Arguments<Input>,
  context: Context,
) => Return<Output> | Promise<Return<Output>>;

/** A tool that is served, to be hidden, changed or taken away. */
export type ToolRegistration<Input extends Schema | undefined, Output extends Schema | undefined> = Registration<
  ToolDefinition<Replaceable<Input>, Replaceable<Output>>
>;

type AnyToolDefinition = ToolDefinition<Schema | undefined, Schema | undefined>;

interface RegisteredTool {
  readonly tool: Tool;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly handler: (args: unknown, context: Context) => unknown;
  readonly mirrored: readonly MirroredParam[];
}

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
  #offersTasks = false;

  readonly methods: ReadonlyMap<string, MethodCall> = new Map<string, MethodCall>([
    [methods.listTools, ({ cursor }) => this.#tools.page(cursor)],
    [methods.callTool, (params, operation) => this.#callTool(params, operation)],
  ]);

  constructor(host: FeatureHost) {
    this.#errorCodes = host.errorCodes;
    this.#tools = new Registry({
      ...host.lists,
      member: "tools",
      key: "name",
      word: "tool",
      shown: ({ tool }) => tool as unknown as JsonObject, // An interface has no index signature; JSON objects do.
      onChange: () => host.changed("tools"),
    });
  }

  get capabilities(): ServerCapabilities | undefined {
    return this.#tools.isOffered ? { tools: { listChanged: true } } : undefined;
  }

  /** Whether there ever was a tool that may run as a task, for the same reason as with any capability. */
  get offersTasks(): boolean {
    return this.#offersTasks;
  }

  /** Undefined for what is no tool. */
  taskSupport(name: unknown): ToolExecution["taskSupport"] {
    const registered = typeof name === "string" ? this.#tools.get(name) : undefined;
    return registered && (registered.tool.execution?.taskSupport ?? "forbidden");
  }

  /** None for what is no tool. */
  mirroredParams(name: unknown): readonly MirroredParam[] {
    return (typeof name === "string" ? this.#tools.get(name)?.mirrored : undefined) ?? [];
  }

  /**
   * @throws TypeError for a name that is taken or not allowed, or an `x-mcp-header` that cannot be; SchemaError for a schema
   * that cannot be served
   */
  define<Input extends Schema | undefined, Output extends Schema | undefined>(
    name: string,
    definition: ToolDefinition<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): ToolRegistration<Input, Output> {
    if (!toolName.test(name)) {
      throw new TypeError(
        `A tool may not be called ${JSON.stringify(name)}: 1 to 128 of A-Z a-z 0-9 _ - . are allowed`,
      );
    }
    // `input` makes the arguments what the handler expects.
    const served = handler as RegisteredTool["handler"];
    return this.#tools.add<AnyToolDefinition>(name, definition, (revised) => {
      const compiled = compileTool(name, revised, served);
      this.#offersTasks ||= (revised.execution?.taskSupport ?? "forbidden") !== "forbidden";
      return compiled;
    });
  }

  #callTool(params: JsonObject, operation: Operation): unknown {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string") throw invalidParams("Invalid params", [wrongKind("/name", "a string", name)]);
    if (!isObject(args)) throw invalidParams("Invalid params", [wrongKind("/arguments", "an object", args)]);
    const registered = this.#tools.get(name);
    if (registered === undefined) {
      const errors = [{ path: "/name", message: "is not a tool of this server" }];
      throw new RpcError(missingCodes(this.#errorCodes, operation.revision).tool, `Unknown tool: ${name}`, { errors });
    }
    return after(registered.input.check(args), (checked) => {
      if (!checked.ok) return this.#refuseArguments(name, checked.errors, operation);
      return run(registered, checked.value, new Context(operation, params));
    });
  }

  /** A result, not an error: the model sees it and can call again with better arguments. The catalogue has it otherwise. */
  #refuseArguments(name: string, errors: readonly ParamsFault[], { revision }: Operation): CallToolResult {
    const message = `Invalid arguments for tool ${name}`;
    if (speaksCatalogue(this.#errorCodes, revision)) {
      const faults = errors.map(({ path, message: why }) => ({ path: `/arguments${path}`, message: why }));
      throw invalidParams(message, faults);
    }
    const lines = errors.map(({ path, message: why }) => `${path === "" ? "arguments" : path}: ${why}`);
    return errorResult([{ type: "text", text: `${message}:\n${lines.join("\n")}` }]);
  }
}

function compileTool(
  name: string,
  { inputSchema, outputSchema, ...words }: AnyToolDefinition,
  handler: RegisteredTool["handler"],
): RegisteredTool {
  if (!taskSupports.has(words.execution?.taskSupport)) {
    throw new TypeError(`The taskSupport of the tool ${name} must be optional, required or forbidden`);
  }
  requireMetaKeys(words, `The tool ${name}`);
  const input = compile(inputSchema ?? noArguments, { root: "object" });
  const output = outputSchema === undefined ? undefined : compile(outputSchema, { side: "output" });
  const tool = {
    name,
    ...words,
    inputSchema: input.json,
    ...(output === undefined ? {} : { outputSchema: output.json }),
  };
  const mirrored = mirroredParamsOf(name, input.json);
  // `compile` has checked that the root is of type object.
  return { tool: Object.freeze(tool as Tool), input, output, handler, mirrored };
}

function mirroredParamsOf(tool: string, inputSchema: JsonObject): readonly MirroredParam[] {
  const reading = readMirroredParams(inputSchema);
  if ("params" in reading) return reading.params;
  const [first] = reading.faults;
  throw new TypeError(`The inputSchema of the tool ${tool} cannot be served: ${first?.path} ${first?.message}`);
}

function run(registered: RegisteredTool, args: unknown, context: Context): unknown {
  try {
    const result = after(registered.handler(args, context), (value) => complete(registered, value));
    return isPromise(result) ? Promise.resolve(result).catch(toResult) : result;
  } catch (error) {
    return toResult(error);
  }
}

function toResult(error: unknown): CallToolResult {
  if (error instanceof ToolError) return checkMeta(errorResult(error.content), "A ToolError");
  throw error;
}

function checkMeta(result: CallToolResult, what: string): CallToolResult {
  requireMetaKeys(result, what);
  requireBlockMeta(result.content, what);
  return result;
}

/** What the handler has returned, checked against the tool's own output schema. */
function complete({ tool, output }: RegisteredTool, value: unknown): unknown {
  if (value instanceof InputRequired) return value;
  if (output === undefined) return checkMeta(resultOf(value), tool.name);
  const whole = isWholeResult(value) ? checkMeta(value, tool.name) : undefined;
  if (whole?.isError === true) return whole;
  return after(output.check(whole === undefined ? value : whole.structuredContent), (checked) => {
    if (checked.ok) {
      return whole === undefined ? structuredResult(checked.value) : { ...whole, structuredContent: checked.value };
    }
    const [first] = checked.errors;
    // A bug of the server, so an internal error: the model could not mend it.
    throw new TypeError(
      `${tool.name} returned what its outputSchema forbids: ${first?.path ?? ""} ${first?.message ?? ""}`,
    );
  });
}
