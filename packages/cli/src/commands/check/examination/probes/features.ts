import type { Tool } from "@parlance/mcp";
import { isObject, type JsonObject, methods } from "@parlance/mcp/protocol";
import { byEra, inSchema, type RawReply } from "@parlance/wire";
import {
  answersTo,
  findOffered,
  type ListName,
  missingCapability,
  type OfferedList,
  offeredLists,
  toolOf,
} from "../../../../shared/client/exercise.js";
import { argumentsFor } from "../../../../shared/client/tool-arguments.js";
import {
  asNote,
  describe,
  expectError,
  expectRefusal,
  expectResult,
  failed,
  type Probe,
  type ProbeOutcome,
  passed,
  quoted,
  type Subject,
  skipped,
  type ToolCall,
} from "../probe.js";

const unknown = "parlance-no-such-thing";
const unknownUri = "parlance-examination://no/such/thing";

/** The requirements of the specification for one list. */
interface ListRequirement {
  readonly id: string;
  /** The members of a page that the schema declares. */
  readonly declaration: string;
  readonly page: string;
  /** Whether a sentence of the stateless era requires a response if the capability is declared. */
  readonly isDemanded: boolean;
}

const requirements: Readonly<Record<ListName, ListRequirement>> = {
  tools: { id: "XF-1", declaration: "tools: Tool[];", page: "listtoolsresult", isDemanded: true },
  resources: { id: "XF-2", declaration: "resources: Resource[];", page: "listresourcesresult", isDemanded: true },
  templates: {
    id: "XF-3",
    declaration: "resourceTemplates: ResourceTemplate[];",
    page: "listresourcetemplatesresult",
    isDemanded: false,
  },
  prompts: { id: "XF-4", declaration: "prompts: Prompt[];", page: "listpromptsresult", isDemanded: true },
};

/** Calls a tool without its arguments. It runs where a server does not check them. */
export const argumentsProbe: Probe = {
  id: "XF-7",
  level: "must",
  demands: "A tool call without required arguments is refused",
  sentence: "Servers MUST: Validate all tool inputs",
  page: "server/tools#security-considerations",
  ask: ifOffered("tools", callWithoutArguments),
};

/** Runs a tool that has no effect and needs nothing, and makes the calls that the user wants. */
export const readOnlyProbe: Probe = {
  id: "XF-8",
  level: "may",
  demands: "A tool that is read-only and needs no arguments, or that --call names, can be called",
  sentence: "To invoke a tool, clients send a `tools/call` request:",
  page: "server/tools#calling-tools",
  ask: ifOffered("tools", callReadOnly),
};

/** The probes of declared features. */
export const featureProbes: readonly Probe[] = [
  ...offeredLists.map((list): Probe => {
    const { capability, method } = list;
    const { id, declaration, page, isDemanded } = requirements[list.name];
    const demanded = `Servers that declare the \`${capability}\` capability MUST respond to \`${method}\` requests with the set of ${capability} currently available to the requesting client.`;
    return {
      id,
      level: "must",
      demands: `${method} returns all pages`,
      sentence: isDemanded ? byEra(declaration, demanded) : declaration,
      page: isDemanded ? byEra(inSchema(page), `server/${capability}#capabilities`) : inSchema(page),
      ask: ifOffered(capability, (subject) => pages(subject, list)),
    };
  }),
  {
    id: "XF-5",
    level: "should",
    demands: "An unknown cursor is refused",
    sentence: "Invalid cursors SHOULD result in an error with code -32602 (Invalid params).",
    page: "server/utilities/pagination#error-handling",
    async ask(subject) {
      const offered = offeredLists.filter(({ capability }) => subject.offers(capability));
      for (const { method } of offered) {
        const reply = await subject.ask(method, { cursor: unknown });
        const found = expectError(reply, [subject.revision.codes.invalidParams]);
        if (found.is === "failed") return failed(`${method}: ${found.says}`);
      }
      return offered.length === 0 ? skipped("it has no lists") : passed;
    },
  },
  {
    id: "XF-6",
    level: "may",
    demands: "A call of an unknown tool is refused",
    sentence: byEra(
      "Protocol Errors: Standard JSON-RPC errors for issues like: Unknown tools",
      "Protocol Errors indicate issues with the request structure itself that models are less likely to be able to fix: Unknown tool",
    ),
    page: "server/tools#error-handling",
    ask: refuses("tools", methods.callTool, { name: unknown, arguments: {} }),
  },
  argumentsProbe,
  readOnlyProbe,
  {
    id: "XF-9",
    level: "may",
    demands: "A listed resource can be read",
    sentence: "To retrieve resource contents, clients send a `resources/read` request",
    page: "server/resources#reading-resources",
    ask: ifOffered("resources", readListed),
  },
  {
    id: "XF-10",
    level: byEra("should", "must"),
    demands: "Reading an unknown resource gets the error resource not found",
    sentence: byEra(
      "Servers SHOULD return standard JSON-RPC errors for common failure cases: Resource not found: `-32002`",
      "If the requested resource does not exist, servers MUST return a JSON-RPC error with code `-32602` (Invalid Params).",
    ),
    page: "server/resources#error-handling",
    ask: refuses("resources", methods.readResource, { uri: unknownUri }, "resourceNotFound"),
  },
  {
    id: "XF-11",
    level: "should",
    demands: "An unknown prompt is refused",
    sentence:
      "Servers SHOULD return standard JSON-RPC errors for common failure cases: Invalid prompt name: `-32602` (Invalid params)",
    page: "server/prompts#error-handling",
    ask: refuses("prompts", methods.getPrompt, { name: unknown }),
  },
  {
    id: "XF-12",
    level: "should",
    demands: "A prompt without required arguments is refused",
    sentence:
      "Servers SHOULD return standard JSON-RPC errors for common failure cases: … Missing required arguments: `-32602` (Invalid params)",
    page: "server/prompts#error-handling",
    ask: ifOffered("prompts", promptWithoutArguments),
  },
  {
    id: "XF-13",
    level: "should",
    demands: "An unknown log level is refused",
    sentence:
      "Servers SHOULD return standard JSON-RPC errors for common failure cases: Invalid log level: `-32602` (Invalid params)",
    page: "server/utilities/logging#error-handling",
    applies: ({ era }) => era === "handshake",
    ask: refuses("logging", methods.setLevel, { level: "chatty" }),
  },
];

/** Runs a probe on servers with a capability; it is skipped on others. */
function ifOffered(capability: string, ask: Probe["ask"]): Probe["ask"] {
  return async (subject) => (subject.offers(capability) ? ask(subject) : skipped(`it offers no ${capability}`));
}

/** Sends a request for something that does not exist, and expects the error with this code. */
function refuses(
  capability: string,
  method: string,
  params: JsonObject,
  code: "invalidParams" | "resourceNotFound" = "invalidParams",
): Probe["ask"] {
  return ifOffered(capability, async (subject) =>
    expectError(await subject.ask(method, params), [subject.revision.codes[code]]),
  );
}

/** The maximum number of pages of a list: a server may send cursors without end. */
const mostPages = 50;

async function pages(subject: Subject, { name, method, member }: OfferedList): Promise<ProbeOutcome> {
  const seen = new Set<unknown>();
  for (let params: JsonObject = {}, page = 1; page <= mostPages; page += 1) {
    const reply = await subject.ask(method, params);
    const { answer } = reply;
    if (!isObject(answer?.result)) {
      const found = expectResult(reply);
      const mayRefuse =
        answer !== undefined && (!requirements[name].isDemanded || subject.revision.era === "handshake");
      return mayRefuse ? asNote(found, "the schema has errors for every request") : found;
    }
    const { [member]: items, nextCursor: cursor } = answer.result;
    if (!Array.isArray(items)) return failed(`page ${page} has no ${member}: ${describe(answer)}`);
    if (cursor === undefined) return passed;
    if (typeof cursor !== "string")
      return failed(`page ${page} has the nextCursor ${quoted(cursor)}, not a string or none`);
    if (seen.has(cursor)) return failed(`page ${page} leads back to ${quoted(cursor)}`);
    seen.add(cursor);
    params = { cursor };
  }
  return skipped(`there are more than ${mostPages} pages`);
}

/** The most tools that a probe calls: a server may list any number. */
const mostCalls = 10;

/** The tools that are called without their arguments, those first that only read. */
function refusing(tools: readonly JsonObject[]): readonly JsonObject[] {
  const callable = tools.filter(refusesEmptyCall);
  return [...callable.filter(isReadOnly), ...callable.filter((each) => !isReadOnly(each))].slice(0, mostCalls);
}

/** The tools that are run. */
function reading(tools: readonly JsonObject[]): readonly JsonObject[] {
  return tools.filter((each) => isReadOnly(each) && !needsArguments(each)).slice(0, mostCalls);
}

/** The calls that are made at the same time: those that are wanted, and without arguments one that runs and one that is refused. */
export async function callsAtOnce(subject: Subject): Promise<readonly ToolCall[]> {
  const wanted = await wantedCalls(subject);
  const tools = subject.offers("tools") ? await subject.list(methods.listTools, "tools") : [];
  const empty = [reading(tools)[0], refusing(tools)[0]].flatMap((tool) =>
    tool === undefined ? [] : [emptyCall(tool)],
  );
  return [...wanted, ...empty];
}

function emptyCall({ name }: JsonObject): ToolCall {
  return { name, args: {} };
}

/** The calls that the user wants, with arguments of the types in the schemas. @throws Failure for a tool that the server does not have */
async function wantedCalls(subject: Subject): Promise<readonly ToolCall[]> {
  if (subject.wanted.length === 0) return [];
  const tools = subject.offers("tools") ? await allTools(subject) : [];
  return subject.wanted.map(({ tool, args }) => ({
    name: tool,
    args: argumentsFor(args, findOffered("tool", tool, tools).inputSchema),
  }));
}

/** The tools of all pages. */
async function allTools(subject: Subject): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  for (let params: JsonObject = {}, page = 1; page <= mostPages; page += 1) {
    const { answer } = await subject.ask(methods.listTools, params);
    const { tools: items, nextCursor: cursor } = isObject(answer?.result) ? answer.result : {};
    if (Array.isArray(items)) tools.push(...items.flatMap((item) => toolOf(item) ?? []));
    if (typeof cursor !== "string") break;
    params = { cursor };
  }
  return tools;
}

async function callWithoutArguments(subject: Subject): Promise<ProbeOutcome> {
  const tools = await subject.list(methods.listTools, "tools");
  const callable = refusing(tools);
  if (callable.length === 0)
    return skipped(`no tool needs arguments${tools.some(needsArguments) ? " that is not marked destructive" : ""}`);
  let note: ProbeOutcome | undefined;
  for (const tool of callable) {
    const found = refusalOf(subject, tool.name, await subject.call(emptyCall(tool)));
    if (found.is === "failed" && found.doubt === undefined) return found;
    if (found.is === "failed") note ??= found; // Another tool may run.
  }
  return note ?? passed;
}

/** Judges the response to a call without arguments. */
function refusalOf(subject: Subject, name: unknown, reply: RawReply): ProbeOutcome {
  const result = reply.answer?.result;
  if (isObject(result)) return result.isError === true ? passed : failed(`${quoted(name)} ran without them`);
  if (subject.revision.facts.toolArgumentErrors !== "result" || reply.answer === undefined)
    return expectRefusal(reply, [subject.revision.codes.invalidParams]);
  return asNote(
    failed(`${describe(reply.answer)}, expected a result with isError that a model can read`),
    "no sentence demands how arguments are refused",
  );
}

function needsArguments({ inputSchema }: JsonObject): boolean {
  return isObject(inputSchema) && Array.isArray(inputSchema.required) && inputSchema.required.length > 0;
}

/**
 * Whether a call without arguments has no effect: the server should refuse it. For a server that does not check, tools that are marked
 * destructive are left out. By the specification all tools without annotations are destructive, so that says nothing.
 */
export function refusesEmptyCall(tool: JsonObject): boolean {
  const { annotations } = tool;
  const isDestructive = isObject(annotations) && annotations.destructiveHint === true && !isReadOnly(tool);
  return needsArguments(tool) && !isDestructive;
}

/** Whether the annotations of a tool say that it only reads. */
export function isReadOnly({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations.readOnlyHint === true;
}

/** The outcome for a server all of whose tools may have effects, or need arguments. */
export const noReadOnlyTool: ProbeOutcome = skipped("no tool is marked read-only and has no required arguments");

async function callReadOnly(subject: Subject): Promise<ProbeOutcome> {
  const tools = await subject.list(methods.listTools, "tools");
  const wanted = await wantedCalls(subject);
  const calls = [...reading(tools).map(emptyCall), ...wanted];
  if (calls.length === 0) return noReadOnlyTool;
  let fault: ProbeOutcome | undefined;
  for (const call of calls) {
    const reply = await subject.call(call);
    const result = reply.answer?.result;
    // A call that the user named should succeed.
    const isRefused = wanted.includes(call) && isObject(result) && result.isError === true;
    const found = isRefused ? failed(`the tool failed: ${describe(reply.answer ?? {})}`) : expectResult(reply);
    if (found.is !== "failed") continue;
    const asked = missingCapability(reply.answer?.error);
    const says =
      asked === undefined ? found.says : `it asks the client (${asked}), which run answers: ${answersTo[asked]}`;
    fault ??= { ...found, says: `${quoted(call.name)}: ${says}` };
  }
  return fault ?? passed;
}

async function readListed(subject: Subject): Promise<ProbeOutcome> {
  const resources = await subject.list(methods.listResources, "resources");
  if (resources.length === 0) return skipped("no resource is listed");
  for (const { uri } of resources.slice(0, 3)) {
    const { answer, silence } = await subject.ask(methods.readResource, { uri });
    if (answer === undefined) return failed(`${quoted(uri)}: ${silence}`);
    const contents = isObject(answer.result) ? answer.result.contents : undefined;
    if (!Array.isArray(contents) || contents.length === 0) return failed(`${quoted(uri)}: ${describe(answer)}`);
  }
  return passed;
}

async function promptWithoutArguments(subject: Subject): Promise<ProbeOutcome> {
  const prompts = await subject.list(methods.listPrompts, "prompts");
  const prompt = prompts.find(
    ({ arguments: args }) => Array.isArray(args) && args.some((each) => isObject(each) && each.required === true),
  );
  if (prompt === undefined) return skipped("no prompt needs arguments");
  const reply = await subject.ask(methods.getPrompt, { name: prompt.name });
  return expectError(reply, [subject.revision.codes.invalidParams]);
}
