import { checkMembers, type MembersOf, requireCount } from "../base/check-members.js";
import { isObject, kindOf } from "../base/json.js";
import { mergeCapabilities, readCapabilities, type ServerCapabilities } from "../protocol/capabilities.js";
import { implementationMembers } from "../protocol/member-tables.js";
import type { Implementation } from "../protocol/types/implementation.js";
import type { InputSchema, Schema } from "../schema/compile.js";
import type { ToolTypes } from "../schema/tool-types.js";
import { Changes } from "../session/change-feed.js";
import type { Middleware } from "../session/middleware.js";
import { type Changed, changedBy } from "./changed.js";
import type { ErrorCodes } from "./error-codes.js";
import { Completions } from "./features/completion.js";
import { foreignServerMembers } from "./features/definition-arguments.js";
import { ExtensionMethods, type MethodHandler } from "./features/extension-methods.js";
import {
  type CacheHints,
  cacheHintMembers,
  cacheHints,
  type Feature,
  type FeatureSettings,
} from "./features/feature.js";
import {
  type KnownWords,
  type PromptArguments,
  type PromptDefinition,
  type PromptHandler,
  type PromptRegistration,
  Prompts,
} from "./features/prompts.js";
import type { Registration } from "./features/registry.js";
import type {
  ResourceDefinition,
  ResourceReader,
  ResourceTemplateDefinition,
  ResourceTemplateReader,
} from "./features/resources/resource-definitions.js";
import { Resources } from "./features/resources/resources.js";
import { Subscriptions } from "./features/subscriptions.js";
import { type TaskOptions, taskLimits, taskMembers } from "./features/tasks/task-store.js";
import { Tasks } from "./features/tasks/tasks.js";
import type {
  DefinedTool,
  ToolDefinition,
  ToolErrors,
  ToolHandler,
  ToolRegistration,
  TypesOfTools,
} from "./features/tool-definitions.js";
import { Tools } from "./features/tools.js";
import { createStateSeal, type StateSealOptions, stateSealMembers } from "./input/request-state.js";
import { type Hooks, hookMembers, Pipeline } from "./pipeline.js";
import type { Operation, Servable } from "./servable.js";

/** Name, version and settings of a server. */
export interface ServerOptions extends Implementation, Hooks {
  /**
   * Seals what calls remember while their clients answer questions, and lets each round run once. Processes that share their
   * clients need the same secrets and the same store here. Default: a secret and a store of this process.
   */
  readonly requestState?: StateSealOptions;
  /** A hint for the model on how to use this server. Default: none. */
  readonly instructions?: string;
  /** Items on a page of a list. Default: 100, so that most servers fit on one: some clients never turn a page. */
  readonly pageSize?: number;
  /** How long clients may cache lists, and whether several users may share a cache. Default: not at all. */
  readonly listCache?: CacheHints;
  /**
   * Server capabilities to advertise in addition to those of the definitions: extensions, `experimental`, and features that are
   * added later. They are merged; a value here that is not an object takes precedence. Default: none.
   *
   * @example
   * createServer({ name: "apps", version: "1.0.0", capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/ui": {} } } });
   */
  readonly capabilities?: ServerCapabilities;
  /** Whether clients may subscribe to resources. Default: true. */
  readonly resourceSubscriptions?: boolean;
  /**
   * Whose error codes go out. `"catalogue"`: those that tutorials teach, in the handshake era; what stands for them in the
   * stateless one. −32002 then says that a tool failed, where other clients read that a resource is missing. Default:
   * `"specification"`.
   */
  readonly errorCodes?: ErrorCodes;
  /** Tools made by `tool`, whose types the clients of `connect(server)` know. `server.tool` adds more. Default: none. */
  readonly tools?: readonly DefinedTool[];
  /**
   * The part of a tool's error that the model sees. `"message"`: a result with `isError` and the error's message, as with both
   * official SDKs; the report gets the whole error all the same. Only for servers whose errors, and those of every library that
   * they call, may be read by the model, the user and the host: messages hold paths, queries, hosts and secrets. Default:
   * `"internal"`, −32603 without a word of it; a tool says what may be known with a `ToolError`.
   */
  readonly toolErrors?: ToolErrors;
  /**
   * How long tasks are kept, and how many. They are offered as soon as a tool says that it may run as one. Defaults: those of `TaskOptions`.
   */
  readonly tasks?: TaskOptions;
}

const serverMembers: MembersOf<ServerOptions> = {
  ...implementationMembers,
  ...hookMembers,
  requestState: stateSealMembers,
  instructions: ["string"],
  pageSize: ["number"],
  listCache: cacheHintMembers,
  capabilities: ["any", "capability"],
  resourceSubscriptions: ["boolean"],
  errorCodes: ["string"],
  tools: ["any"],
  toolErrors: ["string", "toolError", "maskErrorDetails", "mask_error_details"],
  tasks: taskMembers,
};

const ofServing = "it is an option of what serves the server, such as serveStdio(server, { report })";

/** Options that users look for here. */
const optionsElsewhere: Readonly<Record<string, string>> = { report: ofServing, logger: ofServing, onError: ofServing };

/** A server for every revision. It keeps nothing of its clients, so one object serves any number of them. */
export interface Server<Tools extends ToolTypes = ToolTypes> extends Servable {
  /** Never there: it holds the types of the tools that the server was created with. */
  readonly toolTypes?: Tools;

  /**
   * Adds a tool.
   * https://modelcontextprotocol.io/specification/latest/server/tools
   *
   * @example
   * server.tool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => `${a + b}`);
   *
   * @throws TypeError for a name that is taken or not allowed, or an `x-mcp-header` that cannot be; SchemaError for a schema
   * that cannot be served
   */
  tool<Input extends InputSchema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    definition: ToolDefinition<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): ToolRegistration<Input, Output>;

  /**
   * Adds a resource. `read` returns text, bytes, or contents; undefined means that the resource does not exist.
   * https://modelcontextprotocol.io/specification/latest/server/resources
   *
   * @example
   * server.resource("config:/app", { mimeType: "application/json" }, () => JSON.stringify(config));
   *
   * @throws TypeError for a URI that is taken, or is none
   */
  resource(uri: string, definition: ResourceDefinition, read: ResourceReader): Registration<ResourceDefinition>;

  /**
   * Adds a family of resources by a URI template (RFC 6570). Its values are decoded; those of `{x}` hold no slash, and no
   * value leads up out of its place: `uriTemplate` says what exactly.
   * https://modelcontextprotocol.io/specification/latest/server/resources#resource-templates
   *
   * @example
   * server.resourceTemplate("notes:/{author}/{+path}", {}, ({ author, path }) => notes.get(`${author}/${path}`));
   *
   * @throws TypeError for a template that is taken, or cannot be matched
   */
  resourceTemplate<const Template extends string>(
    template: Template,
    definition: ResourceTemplateDefinition<Template>,
    read: ResourceTemplateReader<Template>,
  ): Registration<ResourceTemplateDefinition<Template>>;

  /**
   * Adds a prompt.
   * https://modelcontextprotocol.io/specification/latest/server/prompts
   *
   * @example
   * server.prompt("review", { arguments: { code: { required: true } } }, ({ code }) => `Review this:\n${code}`);
   *
   * @throws TypeError for a name that is taken or not allowed, or arguments that are not strings
   */
  prompt<const Arguments extends PromptArguments | undefined = undefined>(
    name: string,
    definition: PromptDefinition<Arguments> & KnownWords<Arguments>,
    handler: PromptHandler<Arguments>,
  ): PromptRegistration<Arguments>;

  /**
   * Adds a method of an extension, which clients of every revision call by its name.
   * https://modelcontextprotocol.io/specification/latest/basic#capabilities
   *
   * @example
   * server.method("acme/double", ({ number }) => ({ doubled: Number(number) * 2 }));
   *
   * @throws TypeError for a name that is taken, or that is not for extensions
   */
  method(name: string, handler: MethodHandler): void;

  /** Tells clients of changes that the server cannot notice itself. Those of definitions it notices. */
  readonly changed: Changed;

  /**
   * Wraps every call of clients in a middleware, except for the requests that open a session. The first is the outermost.
   *
   * @example
   * server.use((next) => (method, params, operation) => next(method, params, operation));
   */
  use(middleware: Middleware<Operation>): void;
}

/**
 * Creates a server. Serve it with `serveStdio` or any other transport; connect to it in memory with `connect(server)`.
 *
 * @example
 * const server = createServer({ name: "greeter", version: "1.0.0" });
 * server.tool("greet", { description: "Say hello" }, () => "hello");
 *
 * @throws TypeError for a missing name or version, or an option that does not exist; RangeError for a page size, cache hints or bounds of tasks that make no sense
 */
export function createServer<const Defined extends readonly DefinedTool[] = readonly []>(
  options: ServerOptions & {
    /** Tools that are defined with `tool`. The type of the server knows them. Default: none. */
    readonly tools?: Defined;
  },
): Server<TypesOfTools<Defined>>;
export function createServer<const Defined extends readonly DefinedTool[] = readonly []>(
  options: ServerOptions & { readonly tools?: Defined },
  misplaced?: unknown, // Other libraries have their options here.
): Server<TypesOfTools<Defined>> {
  requireOptions(options, misplaced);
  const {
    instructions,
    requestState,
    pageSize = 100,
    listCache,
    capabilities,
    resourceSubscriptions = true,
    tasks: taskOptions,
    tools: definedTools = [],
    errorCodes = "specification",
    toolErrors = "internal",
    onCall,
    onEnd,
    ...info
  } = options;
  if (!Array.isArray(definedTools)) {
    const remedy = "write tools: [tool(name, { description, inputSchema }, (args, ctx) => …)]";
    throw new TypeError(`createServer: tools must be an array, got ${kindOf(definedTools)}: ${remedy}`);
  }
  const declared = declaredCapabilities(capabilities, resourceSubscriptions);
  requireCount("pageSize", pageSize);
  const changes = new Changes();
  const lists = { pageSize, cache: cacheHints(listCache ?? {}) };
  const shared: FeatureSettings = { lists, changes, errorCodes };
  const tools = new Tools(shared, checkedToolErrors(toolErrors), declared.tasks !== undefined);
  const resources = new Resources(shared, resourceSubscriptions);
  const prompts = new Prompts(shared);
  const tasks = new Tasks(tools, taskLimits(taskOptions), shared);
  const offered = [tools, resources, prompts];
  const features: readonly Feature[] = [
    ...offered,
    new Completions({ "ref/prompt": prompts, "ref/resource": resources }),
    new Subscriptions(changes, resources, () => mergeCapabilities(capabilitiesOf(offered), declared)),
    tasks,
  ];
  const extensions = new ExtensionMethods();
  const hooks = { ...(onCall && { onCall }), ...(onEnd && { onEnd }) };
  const pipeline = new Pipeline({ features, extensions, declared, tools, tasks, errorCodes, hooks });
  const server: Server<TypesOfTools<Defined>> = {
    info,
    instructions,
    capabilities: () => mergeCapabilities(capabilitiesOf(features), declared),
    hasMethod: pipeline.hasMethod,
    mirroredParams: tools.mirroredParams,
    requiredScopes: () => [...new Set(offered.flatMap(({ scopes }) => scopes))],
    run: pipeline.run,
    changes,
    stateSeal: createStateSeal(requestState),
    tool: (name, definition, handler) => tools.define(name, definition, handler),
    resource: (uri, definition, read) => resources.define(uri, definition, read),
    resourceTemplate: (template, definition, read) =>
      // The match of the template gives the variables the types that the reader expects.
      resources.defineTemplate(template, definition, read as ResourceTemplateReader),
    prompt: (name, definition, handler) => prompts.define(name, definition, handler),
    method: (name, handler) => extensions.define(name, handler),
    changed: changedBy(changes, (uri, auth) => resources.mayLearnOf(uri, auth)),
    use: (middleware) => pipeline.use(middleware),
  };
  Object.setPrototypeOf(server, foreignServerMembers);
  for (const { name, definition, handler } of definedTools) {
    // `tool` has seen that the handler is one of the definition.
    tools.define(name, definition, handler as ToolHandler<InputSchema, Schema>);
  }
  return server;
}

const serverExample = 'createServer({ name: "my-server", version: "1.0.0" })';

function requireOptions(options: ServerOptions | undefined, misplaced: unknown): void {
  if (misplaced !== undefined) {
    throw new TypeError(
      "createServer has one argument: write createServer({ name, version, instructions, capabilities })",
    );
  }
  if (!isObject(options)) {
    throw new TypeError(`createServer: expected an object of options, got ${kindOf(options)}: ${serverExample}`);
  }
  checkMembers("createServer", options, serverMembers, optionsElsewhere);
  // The specification requires both, and some clients refuse a server without them.
  const missing = (["name", "version"] as const).filter((member) => typeof options[member] !== "string");
  if (missing.length === 0) return;
  const must = missing.length === 1 ? "must be a string" : "must be strings";
  throw new TypeError(`createServer: ${missing.join(" and ")} ${must}: ${serverExample}`);
}

function declaredCapabilities(given: ServerOptions["capabilities"], subscriptions: boolean): ServerCapabilities {
  const declared: ServerCapabilities = readCapabilities("createServer", given);
  if (declared.resources?.subscribe !== true || subscriptions) return declared;
  throw new TypeError("createServer: capabilities.resources.subscribe contradicts resourceSubscriptions: false");
}

function checkedToolErrors(toolErrors: ToolErrors): ToolErrors {
  if (toolErrors === "internal" || toolErrors === "message") return toolErrors;
  throw new RangeError(`toolErrors must be "internal" or "message", got ${JSON.stringify(toolErrors)}`);
}

/** The capabilities of features, and logging: any handler may log, and the client sets the level. */
function capabilitiesOf(features: readonly Feature[]): ServerCapabilities {
  return Object.assign(
    { logging: {} },
    ...features.map(({ capabilities }) => capabilities ?? {}),
  ) as ServerCapabilities;
}
