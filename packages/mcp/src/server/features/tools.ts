import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import { andThen, isPromise } from "../../base/maybe-promise.js";
import { encodeValue } from "../../jsonrpc/codec/encode.js";
import { faultyParams, invalidParams, type ParamsFault, RpcError, wrongKind } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { methods } from "../../protocol/methods.js";
import {
  contentFault,
  encodeBytes,
  firstFault,
  isPlainContent,
  jsonFault,
  metaFault,
  type SendableContent,
  unsendable,
} from "../../protocol/sendable.js";
import type { ContentBlock } from "../../protocol/types/content.js";
import type { CallToolResult, ToolExecution } from "../../protocol/types/tools.js";
import type { InputSchema, Schema } from "../../schema/compile.js";
import type { Checked } from "../../schema/json-schema-validator.js";
import { Context } from "../context.js";
import { type ErrorCodes, missingCodes, speaksCatalogue } from "../error-codes.js";
import { InputRequired } from "../input/input-request.js";
import { InputPending } from "../input/replay.js";
import { requireScopes } from "../required-scopes.js";
import type { Operation, Servable } from "../servable.js";
import { ToolError } from "../tool-error.js";
import { requireArguments } from "./definition-arguments.js";
import type { Feature, FeatureSettings, MethodCall } from "./feature.js";
import { Registry } from "./registry.js";
import {
  type AnyToolDefinition,
  compileTool,
  type RegisteredTool,
  type SendableResult,
  type ToolDefinition,
  type ToolErrors,
  type ToolHandler,
  type ToolRegistration,
} from "./tool-definitions.js";

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

  constructor(settings: FeatureSettings, toolErrors: ToolErrors, declaresTasks: boolean) {
    this.#errorCodes = settings.errorCodes;
    this.#toolErrors = toolErrors;
    this.offersTasks = declaresTasks;
    this.#tools = new Registry(settings, { member: "tools", key: "name", word: "tool", list: "tools" });
  }

  get capabilities(): ServerCapabilities | undefined {
    return this.#tools.isOffered ? { tools: { listChanged: true } } : undefined;
  }

  /** Undefined for what is no tool that the caller sees. */
  taskSupport(name: unknown, { auth }: Operation): ToolExecution["taskSupport"] {
    return this.#tools.get(name, auth)?.taskSupport;
  }

  /** The scopes that tools require. */
  get scopes(): readonly string[] {
    return Array.from(this.#tools.entries(), ({ scopes = [] }) => scopes).flat();
  }

  /** @throws InsufficientScope. For a call that runs as a task: its caller gets the challenge, and no task */
  requireScopes({ name }: JsonObject, operation: Operation): void {
    requireScopes(`the tool ${name}`, this.#tools.get(name, operation.auth)?.scopes, operation);
  }

  /** None for what is no tool that the caller sees. */
  readonly mirroredParams: Servable["mirroredParams"] = (name, auth) => this.#tools.get(name, auth)?.mirrored ?? [];

  /**
   * @throws TypeError for a name that is taken or not allowed, or an `x-mcp-header` that cannot be; SchemaError for a schema
   * that cannot be served
   */
  define<Input extends InputSchema | undefined, Output extends Schema | undefined>(
    name: string,
    definition: ToolDefinition<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): ToolRegistration<Input, Output> {
    requireArguments("tool", name, definition, handler);
    if (!toolName.test(name)) {
      throw new TypeError(
        `A tool may not be called ${JSON.stringify(name)}: 1 to 128 of A-Z a-z 0-9 _ - . are allowed`,
      );
    }
    // `input` makes the arguments what the handler expects.
    const served = handler as RegisteredTool["handler"];
    return this.#tools.add<AnyToolDefinition>(name, definition, (revised) => {
      const compiled = compileTool(name, revised, served);
      this.offersTasks ||= compiled.taskSupport !== "forbidden";
      return compiled;
    });
  }

  #callTool(params: JsonObject, operation: Operation): unknown {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string") throw faultyParams(wrongKind("/name", "a string", name));
    if (!isObject(args)) throw faultyParams(wrongKind("/arguments", "an object", args));
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
    if (!checked.ok) return this.#refuseArguments(registered.name, checked.errors, operation);
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

  #failed({ name }: RegisteredTool, { report, signal }: Operation, error: unknown): CallToolResult {
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

/** The value that the handler returned, checked against the output schema of the tool. */
function complete({ name, output }: RegisteredTool, value: unknown): unknown {
  if (value instanceof InputRequired) return value;
  if (output === undefined) return resultOf(value, name);
  const whole = isWholeResult(value) ? value : undefined;
  if (whole?.isError === true) return checkedResult(whole, name);
  return andThen(output.check(whole === undefined ? value : whole.structuredContent), (checked) => {
    if (checked.ok) {
      if (whole === undefined) return structuredResult(checked.value, name);
      return checkedResult({ ...whole, structuredContent: checked.value }, name);
    }
    const [first] = checked.errors;
    const place = `${first?.path ?? ""} ${first?.message ?? ""}`.trim();
    // A bug of the server, so an internal error: the model could not mend it.
    throw new TypeError(`${name} returned what its outputSchema forbids: ${place}${halfResult(value)}`);
  });
}

/** The remedy for a result of which one half is missing; empty for other values. */
function halfResult(value: unknown): string {
  if (!isObject(value)) return "";
  if (Array.isArray(value.content) && !("structuredContent" in value))
    return "; a result with content and an outputSchema has structuredContent too: return { content, structuredContent }";
  if (isObject(value.structuredContent) && !("content" in value))
    return "; return the value of structuredContent itself, or { content, structuredContent }";
  return "";
}

const blockTypes: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource_link", "resource"]);

/**
 * A whole result from whatever a handler without an output schema has returned.
 * @param tool its name, for the message
 * @throws TypeError for what cannot be sent, with the place in the result and the remedy
 */
function resultOf(value: unknown, tool: string): CallToolResult {
  if (value === undefined) return { content: [] };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  if (isBlock(value)) return checkedResult({ content: [value] }, tool);
  if (Array.isArray(value)) {
    if (value.every(isBlock)) return checkedResult({ content: value }, tool);
    const mixed = value.some(isBlock) ? firstFault(value, strayFault) : undefined;
    if (mixed !== undefined) throw unsendable(resultName(tool), mixed);
  }
  if (isObject(value) && Array.isArray(value.content)) return checkedResult(value, tool); // It says that it is one.
  return structuredResult(value, tool);
}

/** True for a whole result. With an output schema, a handler may also return the structured output alone. */
function isWholeResult(value: unknown): value is CallToolResult {
  return isObject(value) && Array.isArray(value.content) && ("structuredContent" in value || value.isError === true);
}

/**
 * Structured output, with the same as text for clients and models that do not read it.
 * @throws TypeError for what is not JSON
 */
function structuredResult(value: unknown, tool: string): CallToolResult {
  const fault = jsonFault(value, "/structuredContent");
  if (fault !== undefined) throw unsendable(resultName(tool), fault);
  const structuredContent = asWritten(value);
  return { content: [{ type: "text", text: encodeValue(structuredContent) }], structuredContent };
}

/**
 * A whole result, with its bytes in base64.
 * @throws TypeError for what cannot be sent
 */
function checkedResult(result: object, tool: string): CallToolResult {
  const given = result as JsonObject; // An interface has no index signature; JSON objects do.
  const isPlain = isPlainContent(given.content);
  const content = isPlain ? given.content : encodeBytes(given.content);
  const fault = (isPlain ? undefined : contentFault(content, "/content")) ?? membersFault(given);
  if (fault !== undefined) throw unsendable(resultName(tool), fault);
  const encoded = content === given.content ? given : { ...given, content };
  const { structuredContent } = encoded;
  const written = asWritten(structuredContent);
  // Checked above, member by member.
  return (written === structuredContent
    ? encoded
    : { ...encoded, structuredContent: written }) as unknown as CallToolResult;
}

function membersFault(result: JsonObject): ParamsFault | undefined {
  for (const name in result) {
    const fault = name === "content" || !Object.hasOwn(result, name) ? undefined : memberFault(name, result[name]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function memberFault(name: string, value: unknown): ParamsFault | undefined {
  const path = `/${name}`;
  if (value === undefined) return undefined;
  if (name === "_meta") return metaFault(value, path);
  if (name === "isError" && typeof value !== "boolean")
    return { path, message: `must be a boolean, got ${kindOf(value)}` };
  if (name === "resultType" && value !== "complete") {
    return { path, message: 'must be "complete" or left out: return inputRequired(…) to ask the client' };
  }
  return jsonFault(value, path);
}

function strayFault(value: unknown, index: number): ParamsFault | undefined {
  if (isBlock(value)) return undefined;
  const types = [...blockTypes].map((type) => JSON.stringify(type)).join(", ");
  const message = `must be a content block, as other elements are, got ${kindOf(value)}: its type is one of ${types}`;
  return { path: `/content/${index}`, message };
}

/** The JSON of a value with a `toJSON`; its kind decides how a revision represents it. */
function asWritten(value: unknown): unknown {
  const hasToJson = isObject(value) && typeof value.toJSON === "function";
  return hasToJson ? (value.toJSON as (key: string) => unknown).call(value, "") : value;
}

/** A failure that the model can read. */
export function errorResult(content: readonly SendableContent[]): SendableResult {
  return { content, isError: true };
}

function resultName(tool: string): string {
  return `The result of the tool ${tool}`;
}

function isBlock(value: unknown): value is ContentBlock {
  return isObject(value) && blockTypes.has(value.type);
}
