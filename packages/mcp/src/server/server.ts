import { methodNotFound } from "../jsonrpc/errors.js";
import type { OperationCall, Served } from "../lifecycle/served.js";
import { createStateSeal, type StateSealOptions } from "../lifecycle/state-seal.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import type { Schema } from "../schema/compile.js";
import type { Feature } from "./feature.js";
import { type ToolDefinition, type ToolHandler, Tools } from "./tools.js";

/** What a server says of itself, and settings. */
export interface ServerOptions extends Implementation {
  /**
   * Seals what calls remember while their clients answer questions. Processes that share their clients need the same
   * secrets here. Default: a secret of this process.
   */
  readonly requestState?: StateSealOptions;
  /** A hint for the model on how to use this server. */
  readonly instructions?: string;
}

/** A server for every revision. It keeps nothing of its clients, so one object serves any number of them. */
export interface Server extends Served {
  /**
   * Adds a tool.
   *
   * @example
   * server.tool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => `${a + b}`);
   *
   * @throws TypeError for a name that is taken or not allowed; SchemaError for a schema that cannot be served
   */
  tool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    definition: ToolDefinition<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): void;
}

/**
 * Makes a server. Serve it with `serveStdio` or any other carrier; connect to it in memory with `connect(server)`.
 *
 * @example
 * const server = createServer({ name: "greeter", version: "1.0.0" });
 * server.tool("greet", { description: "Say hello" }, () => "hello");
 */
export function createServer(options: ServerOptions): Server {
  const { instructions, requestState, ...info } = options;
  const tools = new Tools();
  const features: readonly Feature[] = [tools];
  return {
    info,
    instructions,
    capabilities: () => capabilitiesOf(features),
    run: operationCall(features),
    stateSeal: createStateSeal(requestState),
    tool: (name, definition, handler) => tools.define(name, definition, handler),
  };
}

/** Logging is always there: any handler may log, and the client decides what it hears. */
function capabilitiesOf(features: readonly Feature[]): ServerCapabilities {
  return Object.assign(
    { logging: {} },
    ...features.map(({ capabilities }) => capabilities ?? {}),
  ) as ServerCapabilities;
}

/** One table of all methods: what is not in it, or belongs to a feature that offers nothing, does not exist. */
function operationCall(features: readonly Feature[]): OperationCall {
  const owners = new Map(features.flatMap((feature) => [...feature.methods.keys()].map((method) => [method, feature])));
  return (method, params, operation) => {
    const feature = owners.get(method);
    const call = feature?.capabilities === undefined ? undefined : feature.methods.get(method);
    if (call === undefined) throw methodNotFound(method);
    return call(params, operation);
  };
}
