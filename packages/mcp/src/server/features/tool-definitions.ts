import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { iconMembers, toolAnnotationMembers, toolExecutionMembers } from "../../protocol/member-tables.js";
import { requireMetaKeys } from "../../protocol/meta.js";
import { type MirroredParam, readMirroredParams } from "../../protocol/mirrored-params.js";
import type { SendableContent } from "../../protocol/sendable.js";
import type { Icon } from "../../protocol/types/content.js";
import type { CallToolResult, ToolAnnotations, ToolExecution } from "../../protocol/types/tools.js";
import {
  type CompiledSchema,
  compileFor,
  type InferInput,
  type InferOutput,
  type InputSchema,
  type Schema,
} from "../../schema/compile.js";
import type { RawShape } from "../../schema/raw-shape.js";
import { isStandardSchema } from "../../schema/standard-schema.js";
import type { ToolSchemas, ToolTypes } from "../../schema/tool-types.js";
import { type Context, withoutArguments } from "../context.js";
import { requireAccess, type ScopedDefinition } from "../required-scopes.js";
import { requireArguments } from "./definition-arguments.js";
import type { Registration, ServedDefinition } from "./registry.js";

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
  title: ["string"],
  description: ["string", "desc", "summary"],
  inputSchema: [
    "any",
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
  outputSchema: ["any", "output", "outputs", "output_schema", "result", "results", "resultSchema", "returns"],
  annotations: toolAnnotationMembers,
  icons: iconMembers,
  execution: toolExecutionMembers,
  scopes: ["strings", "scope", "requiredScopes", "requireScopes"],
  visible: ["function", "visibility", "isVisible"],
  _meta: ["object", "meta"],
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
  requireArguments("tool", name, definition, handler);
  // The members that were left out are undefined, as the types of their schemas are.
  return { name, definition: definition as { readonly inputSchema: Input; readonly outputSchema: Output }, handler };
}

/** A tool that is served, to be hidden, changed or taken away. */
export type ToolRegistration<Input extends InputSchema | undefined, Output extends Schema | undefined> = Registration<
  ToolDefinition<Replaceable<Input>, Replaceable<Output>>
>;

export type AnyToolDefinition = ToolDefinition<InputSchema | undefined, Schema | undefined>;

/** A tool that is served: its definition, compiled. */
export interface RegisteredTool extends ServedDefinition {
  readonly name: string;
  readonly taskSupport: NonNullable<ToolExecution["taskSupport"]>;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly handler: (args: unknown, context: Context) => unknown;
  readonly mirrored: readonly MirroredParam[];
}

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
const taskSupports: ReadonlySet<unknown> = new Set(["optional", "required", "forbidden"]);

/** A whole result as a handler may give it: the data of images, audio and embedded resources may be bytes. */
export interface SendableResult extends Omit<CallToolResult, "content"> {
  /** The content blocks, for the model; binary data may be bytes. */
  readonly content: readonly SendableContent[];
}

/**
 * JSON of a tool's own: objects, values of interfaces and of classes with fields among them, and arrays. Not what JSON
 * would write as `{}`: a Map, a Set, an Error, a Response, a function, a promise, bytes. A member is typed here only if
 * such a value is known by it; what is inside of an object is checked when it is returned.
 */
export type JsonReturn =
  | JsonObjectReturn
  | readonly (JsonObjectReturn | JsonReturn | string | number | boolean | null)[];

type NotAnError = { readonly stack?: never } | { readonly message?: never } | { readonly name?: never };

// `object` keeps it from being a weak type, which an interface without any of these members would not fit.
type JsonObjectReturn = object &
  NotAnError & {
    /** With an array it says that it is a whole result. */
    readonly content?: string | number | boolean | null | (object & { readonly length?: never });
    readonly [Symbol.iterator]?: never;
    readonly [Symbol.toStringTag]?: never;
    readonly [Symbol.hasInstance]?: never;
    readonly arrayBuffer?: never;
  };

/**
 * The values that the handler of a tool without an output schema may return: text, a content block, an array of blocks, a whole result, or any
 * other JSON. The last one is not typed as `JsonObject`: a value whose type is an interface would not be assignable to it, and
 * TypeScript would widen literals such as `type: "text"` in a block to `string`.
 */
export type ToolReturn =
  | string
  | SendableContent
  | readonly SendableContent[]
  | SendableResult
  | JsonReturn
  // biome-ignore lint/suspicious/noConfusingVoidType: it is the return type of a handler without `return`, whose result is empty.
  | void;

/**
 * Whether the model sees an error that a tool throws, other than a `ToolError` or an `RpcError`. `"internal"`: it does not, the host
 * gets −32603 *Internal error*. `"message"`: a result with `isError` and the error's message.
 */
export type ToolErrors = "internal" | "message";

/** @throws TypeError, SchemaError for a definition that cannot be served */
export function compileTool(
  name: string,
  definition: AnyToolDefinition,
  handler: RegisteredTool["handler"],
): RegisteredTool {
  requireDefinition(name, definition);
  const { inputSchema, outputSchema, scopes, visible, ...words } = definition;
  requireAccess(`The tool ${name}`, definition);
  const { taskSupport = "forbidden" } = words.execution ?? {};
  if (!taskSupports.has(taskSupport)) {
    throw new TypeError(`The taskSupport of the tool ${name} must be optional, required or forbidden`);
  }
  requireMetaKeys(words, `The tool ${name}`);
  const given = isEmptyShape(inputSchema) ? { type: "object", properties: {} } : inputSchema;
  const input = compileFor(`The tool ${name}: inputSchema`, given ?? noArguments, { root: "object" });
  const output =
    outputSchema === undefined
      ? undefined
      : compileFor(`The tool ${name}: outputSchema`, outputSchema, { side: "output" });
  const described = output === undefined ? {} : { outputSchema: output.json };
  return {
    name,
    shown: Object.freeze({ name, ...words, inputSchema: input.json, ...described }),
    taskSupport,
    input,
    output,
    handler: inputSchema === undefined ? withoutArguments(handler) : handler,
    mirrored: mirroredParamsOf(name, input.json),
    scopes,
    visible,
  };
}

/** As JSON Schema it would be any value; as the fields of an object, which authors mean, it is none of them. */
function isEmptyShape(schema: unknown): boolean {
  return isObject(schema) && Object.getPrototypeOf(schema) === Object.prototype && Object.keys(schema).length === 0;
}

function requireDefinition(name: string, definition: AnyToolDefinition): void {
  const known = new Set(
    Object.entries(toolMembers).flatMap(([name, entry]) => [name, ...(Array.isArray(entry) ? entry.slice(1) : [])]),
  );
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
