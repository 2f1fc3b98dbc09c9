import { codes, escapeControls } from "@parlance/mcp/jsonrpc";
import {
  describeValue,
  isObject,
  isObjectSchema,
  type JsonObject,
  methods,
  type Revision,
  readMirroredParams,
} from "@parlance/mcp/protocol";
import { type CompiledSchema, compile, SchemaError, type SchemaFault } from "@parlance/mcp/schema";
import type { WireMessage } from "../conversation/message.js";
import type { ListedTool, WireSession } from "../conversation/session.js";
import { valueAt } from "../json/json-node.js";
import { inSchema, isStateless } from "./citations.js";
import { firstThatKeeps, meantValues, renamed, replaced, sameWords, without } from "./corrections/edits.js";
import { meantInputSchemas, meantTypes, structureInText } from "./corrections/meant-values.js";
import { errorCode } from "./json-rpc.js";
import type { Clause, Finding, MessageRule } from "./rule.js";

const namedTool = "`name`: Unique identifier for the tool";
/** The clause on duplicate names. */
const uniqueName: Clause = {
  level: ({ facts }) => (facts.toolSchemas === "unnamed" ? "may" : "should"),
  sentence: ({ facts }) =>
    facts.toolSchemas === "unnamed" ? namedTool : "Tool names SHOULD be unique within a server.",
  page: ({ facts }) => (facts.toolSchemas === "unnamed" ? "server/tools#tool" : "server/tools#tool-names"),
};
const describedSchema = "`inputSchema`: JSON Schema defining expected parameters";

/** The rules on the definitions of tools, and on results that must conform to them. */
export const toolRules: readonly MessageRule[] = [
  {
    id: "T-1",
    level: "must",
    party: "server",
    kinds: ["res"],
    methods: [methods.callTool],
    demands: "A structured result conforms to the outputSchema of its tool",
    applies: hasStructure,
    sentence: "Servers MUST provide structured results that conform to this schema.",
    page: "server/tools#output-schema",
    correct: (faulty) => firstThatKeeps(faulty, meantValues(faulty)),
    *check(message, session) {
      const tool = calledTool(message, session);
      if (tool === undefined || !Object.hasOwn(message.result ?? {}, "structuredContent")) return;
      yield* misfits(tool, "outputSchema", message.result?.structuredContent, "/result/structuredContent");
    },
  },
  {
    id: "T-2",
    level: "must",
    party: "server",
    kinds: ["res"],
    methods: [methods.listTools],
    demands: "The inputSchema of a tool is a JSON Schema of type object",
    sentence: 'inputSchema: { … type: "object"; … }',
    page: inSchema("tool"),
    correct: (faulty) => firstThatKeeps(faulty, meantInputSchemas(faulty)),
    *check(message) {
      for (const { definition, pointer } of listedIn(message)) {
        const { inputSchema } = definition;
        if (isObjectSchema(inputSchema)) continue;
        const type = isObject(inputSchema) ? "/type" : "";
        const found = describeValue(isObject(inputSchema) ? inputSchema.type : inputSchema);
        const expected = isObject(inputSchema) ? 'its type must be "object"' : "inputSchema must be a JSON Schema";
        yield { says: `${expected}, got ${found}`, pointer: `${pointer}/inputSchema${type}` };
      }
    },
  },
  {
    id: "T-3",
    level: ({ facts }) => (facts.toolSchemas === "unnamed" ? "may" : "must"),
    party: "server",
    kinds: ["res"],
    methods: [methods.listTools],
    demands: "The schemas of a tool are valid JSON Schema",
    sentence: ({ facts }) =>
      facts.toolSchemas === "unnamed"
        ? describedSchema
        : "Schemas MUST be valid according to their declared or default dialect",
    page: ({ facts }) => (facts.toolSchemas === "unnamed" ? "server/tools#tool" : "basic#schema-validation"),
    correct: (faulty) => firstThatKeeps(faulty, meantTypes(faulty)),
    *check(message) {
      for (const { definition, pointer } of listedIn(message)) {
        for (const name of ["inputSchema", "outputSchema"] as const) {
          const schema = definition[name];
          const fault = isObject(schema) ? compiled(schema).fault : otherSchema(name, schema);
          if (fault !== undefined)
            yield { says: escapeControls(fault.message), pointer: `${pointer}/${name}${fault.pointer}` };
        }
      }
    },
  },
  {
    id: "T-4",
    level: "must",
    party: "server",
    kinds: ["res"],
    methods: [methods.callTool],
    demands: "A tool with an outputSchema returns a structured result",
    applies: hasStructure,
    sentence: "Servers MUST provide structured results that conform to this schema.",
    page: "server/tools#output-schema",
    correct: (faulty) => firstThatKeeps(faulty, structureInText(faulty)),
    *check(message, session) {
      const tool = calledTool(message, session);
      if (tool === undefined || !isObject(tool.definition.outputSchema)) return;
      if (!Object.hasOwn(message.result ?? {}, "structuredContent"))
        yield {
          says: `structuredContent is missing, which the outputSchema in ${placeOf(tool, "outputSchema")} promises`,
          pointer: "/result/structuredContent",
        };
    },
  },
  {
    id: "T-5",
    level: ({ facts }) => (facts.toolSchemas === "unnamed" ? "may" : "should"),
    party: "server",
    kinds: ["res"],
    methods: [methods.listTools],
    demands: "A tool name has 1 to 128 letters, digits, underscores, hyphens and dots, and is unique",
    sentence: ({ facts }) =>
      facts.toolSchemas === "unnamed"
        ? namedTool
        : "The following SHOULD be the only allowed characters: uppercase and lowercase ASCII letters (A-Z, a-z), digits (0-9), underscore (\\_), hyphen (-), and dot (.)",
    page: ({ facts }) => (facts.toolSchemas === "unnamed" ? "server/tools#tool" : "server/tools#tool-names"),
    correct: (faulty) => {
      const { node, value } = faulty.subject;
      const name = valueAt(value, faulty.pointer);
      return firstThatKeeps(faulty, [
        typeof name === "string"
          ? replaced(node, faulty.pointer, JSON.stringify(name.replaceAll(/[^\w.-]/g, "_")))
          : undefined,
      ]);
    },
    *check(message) {
      const seen = new Set<unknown>();
      for (const { definition, pointer } of listedIn(message)) {
        const { name } = definition;
        if (typeof name !== "string") continue;
        if (!/^[\w.-]{1,128}$/.test(name))
          yield { says: `${describeValue(name)} is a name that not every client accepts`, pointer: `${pointer}/name` };
        else if (seen.has(name))
          yield {
            says: `another tool has the name ${describeValue(name)}`,
            pointer: `${pointer}/name`,
            by: uniqueName,
          };
        seen.add(name);
      }
    },
  },
  {
    id: "T-6",
    level: "may",
    party: "client",
    kinds: ["req"],
    from: "client",
    methods: [methods.callTool],
    demands: "A client calls tools that the server has listed",
    page: "server/tools#calling-tools",
    correct: ({ subject: { node, names = "" }, session: { tools } }) => {
      const meant = sameWords(names, tools.keys());
      return replaced(node, "/params/name", meant && JSON.stringify(meant));
    },
    *check({ params }, { tools, isWhole }) {
      if (tools.size === 0 || !isWhole) return;
      if (typeof params.name === "string" && !tools.has(params.name))
        yield { says: `the server has listed no tool ${describeValue(params.name)}`, pointer: "/params/name" };
    },
  },
  {
    id: "T-7",
    level: "may",
    party: "client",
    kinds: ["req"],
    from: "client",
    methods: [methods.callTool],
    demands: "The arguments of a call conform to the inputSchema of its tool",
    sentence: describedSchema,
    page: "server/tools#tool",
    correct: (faulty) => firstThatKeeps(faulty, meantValues(faulty)),
    *check({ params }, { tools }) {
      const tool = tools.get(String(params.name));
      const { arguments: given = {} } = params;
      if (tool !== undefined && isObject(given)) yield* misfits(tool, "inputSchema", given, "/params/arguments");
    },
  },
  {
    id: "T-8",
    level: "must",
    party: "server",
    kinds: ["res"],
    methods: [methods.listTools],
    demands: "An argument with x-mcp-header is a string, an integer or a boolean, and its header is unique",
    applies: isStateless,
    sentence: "MUST only be applied to parameters with primitive types (integer, string, boolean).",
    page: "server/tools#x-mcp-header",
    correct: (faulty) =>
      firstThatKeeps(faulty, [
        without(faulty.subject.node, faulty.pointer),
        without(faulty.subject.node, `${faulty.pointer}/x-mcp-header`),
      ]),
    *check(message) {
      for (const { definition, pointer } of listedIn(message)) {
        const mirrored = readMirroredParams(definition.inputSchema);
        if (!("faults" in mirrored)) continue;
        for (const { path, message: says } of mirrored.faults)
          yield { says: escapeControls(says), pointer: `${pointer}/inputSchema${path}` };
      }
    },
  },
  {
    id: "T-9",
    level: "should",
    party: "server",
    kinds: ["err"],
    methods: [methods.callTool],
    demands: "A tool that fails returns a result with isError, so that the model sees the reason",
    sentence:
      "Any errors that originate from the tool SHOULD be reported inside the result object, with `isError` set to true, not as an MCP protocol-level error response.",
    page: inSchema("calltoolresult"),
    correct: ({ subject, revision: { era } }) => {
      const error = subject.member("error");
      if (!isObject(error) || typeof error.message !== "string") return undefined;
      const type = era === "stateless" ? { resultType: "complete" } : {};
      const result = { content: [{ type: "text", text: error.message }], isError: true, ...type };
      return renamed(subject.node, "/error", "result", JSON.stringify(result));
    },
    *check(message) {
      if (errorCode(message) !== codes.internalError) return;
      const remedy = "throw a ToolError with a message for the model; the server's log has the thrown error";
      yield { says: `the model does not learn why the tool has failed: ${remedy}`, pointer: "/error/code" };
    },
  },
];

function hasStructure({ facts }: Revision): boolean {
  return facts.structuredContent !== "none";
}

/** The tool whose outputSchema the result of a call must conform to; undefined for a failure, which need not. */
function calledTool({ result, operation }: WireMessage, { tools }: WireSession): ListedTool | undefined {
  if (result === undefined) return undefined;
  const { resultType = "complete", isError, task } = result;
  if (resultType !== "complete" || isError === true || isObject(task)) return undefined;
  return tools.get(operation?.request.names ?? "");
}

/** The definitions of tools in a result of `tools/list`, with the pointers to them. */
export function* listedIn({ result }: WireMessage): Iterable<{ definition: JsonObject; pointer: string }> {
  const tools: readonly unknown[] = Array.isArray(result?.tools) ? result.tools : [];
  for (const [index, definition] of tools.entries())
    if (isObject(definition)) yield { definition, pointer: `/result/tools/${index}` };
}

/** The findings on a value that must conform to a schema of a tool, which may have none. */
function* misfits(
  tool: ListedTool,
  member: "inputSchema" | "outputSchema",
  value: unknown,
  pointer: string,
): Iterable<Finding> {
  const schema = tool.definition[member];
  if (!isObject(schema)) return;
  for (const { path, message: says } of faultsOf(schema, value))
    yield { says: `${says}, says the ${member} in ${placeOf(tool, member)}`, pointer: `${pointer}${path}` };
}

function placeOf({ listed, pointer }: ListedTool, member: string): string {
  return `frame ${listed.frame.n} at ${pointer}/${member}`;
}

interface Compilation {
  readonly schema?: CompiledSchema;
  readonly fault?: SchemaError;
}

const compilations = new WeakMap<JsonObject, Compilation>();

/** Compiles each schema once: a tool is called more often than it is listed. */
function compiled(schema: JsonObject): Compilation {
  const compilation = compilations.get(schema) ?? tryCompile(schema);
  compilations.set(schema, compilation);
  return compilation;
}

/** Reasons that mean that a schema is invalid, and not just unsupported here. */
const wrong: ReadonlySet<string> = new Set(["malformed", "reference", "endless", "pattern"]);

function tryCompile(schema: JsonObject): Compilation {
  try {
    return { schema: compile(schema, { trust: "peer" }) };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return wrong.has(error.reason) ? { fault: error } : {};
  }
}

/** The faults of a value of a peer by a schema of a peer; none if either cannot be interpreted. */
function faultsOf(schema: JsonObject, value: unknown): readonly SchemaFault[] {
  try {
    const checked = compiled(schema).schema?.check(value);
    // Validation by JSON Schema is synchronous.
    return checked === undefined || checked instanceof Promise || !("ok" in checked) || checked.ok
      ? []
      : checked.errors;
  } catch {
    return []; // The validation stopped at a limit: an incomplete check reports nothing.
  }
}

function otherSchema(name: string, schema: unknown): { message: string; pointer: string } | undefined {
  if (schema === undefined || name === "inputSchema") return undefined;
  return { message: `${name} must be a JSON Schema, got ${describeValue(schema)}`, pointer: "" };
}
