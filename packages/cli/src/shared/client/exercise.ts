import type { ServerCapabilities, Tool } from "@parlance/mcp";
import { type Client, RpcError } from "@parlance/mcp/client";
import { didYouMean, escapeControls, LocalError, OutOfBounds } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject, methods } from "@parlance/mcp/protocol";
import { usageFailure } from "../failure.js";
import { argumentsFor, type WantedCall } from "./tool-arguments.js";

/** Why a tool was not called, or why it could not run. */
export interface Skipped {
  readonly tool: string;
  readonly why: "needs arguments" | "is not marked read-only" | keyof typeof answersTo;
}

/** The option that answers what a tool asks, by the client capability that it needs. */
export const answersTo = {
  elicitation: `--answer '{"name":"value"}' or --answer accept`,
  sampling: "--answer sampling=text",
  roots: "--roots folder",
} as const;

/**
 * Lists what the server advertises, or every list with `force`. Then calls the requested tools, and those that are marked
 * read-only and need no arguments. Returns the tools that were not called, and those that ask what the client does not answer.
 *
 * @throws LocalError of the first call without a valid response, after all of them; `refused` for a requested tool if the server has not
 *   advertised tools
 * @throws RpcError if the server refuses to list the tools, and a requested one is not known
 */
export async function exercise(
  client: Client,
  wanted: readonly WantedCall[],
  options: ExerciseOptions,
): Promise<readonly Skipped[]> {
  let failed: LocalError | undefined;
  /** Continues with what is left after a call without a valid response. */
  const fail = (error: unknown): undefined => {
    if (isOver(client, error)) throw error;
    failed ??= error as LocalError; // As `isOver` has found.
    return undefined;
  };
  const { tools, unlisted } = await listAdvertised(client, options, fail);
  const offers = ({ tool }: WantedCall): boolean => tools.some(({ name }) => name === tool);
  // A tool that is not there may be added by a call before it: then the tools are listed again.
  const firstMissing = wanted.findIndex((call) => !offers(call));
  const [early, late] = firstMissing > 0 ? [wanted.slice(0, firstMissing), wanted.slice(firstMissing)] : [wanted, []];
  if (unlisted !== undefined && !early.every(offers)) throw unlisted;
  const isAdvertised = client.server.capabilities.tools !== undefined;
  if (wanted.length > 0 && !isAdvertised && options.force !== true) await listedTools(client, options); // The client refuses, and says why.
  const calls = early.map(({ tool, args }) => ({
    tool,
    args: argumentsFor(args, findOffered("tool", tool, tools).inputSchema),
  }));
  const names = new Set(wanted.map(({ tool }) => tool));
  const others = tools
    .filter(({ name }) => !names.has(name))
    .map((tool) => ({ tool: tool.name, why: reasonToSkip(tool) }));
  const safe = others.filter(({ why }) => why === undefined).map(({ tool }) => ({ tool, args: {} }));
  const asking: Skipped[] = [];
  const attempt = async (tool: string, args: JsonObject): Promise<void> => {
    const refusal = await callTool(client, tool, args, options).catch(fail);
    const capability = missingCapability(refusal);
    if (capability !== undefined) asking.push({ tool, why: capability });
  };
  for (const { tool, args } of [...safe, ...calls]) await attempt(tool, args);
  for (const { tool, args } of late) {
    const listed = await listedTools(client, options);
    await attempt(tool, argumentsFor(args, findOffered("tool", tool, listed).inputSchema));
  }
  if (failed !== undefined) throw failed;
  return [...asking, ...others.flatMap(({ tool, why }) => (why === undefined ? [] : [{ tool, why }]))];
}

/** The capability that a server misses for a question, by its error. */
export function missingCapability(error: unknown): keyof typeof answersTo | undefined {
  const required = isObject(error) && isObject(error.data) ? error.data.requiredCapabilities : undefined;
  if (!isObject(required)) return undefined;
  return (["elicitation", "sampling", "roots"] as const).find((name) => required[name] !== undefined);
}

/** The tools as they are listed now. @throws RpcError if the server refuses to list them */
async function listedTools(client: Client, options: AskOptions): Promise<readonly Tool[]> {
  const items: unknown[] = [];
  await readList(client, toolList, options, (item) => items.push(item));
  return items.flatMap((item) => toolOf(item) ?? []);
}

/** Calls a tool. Resolves to the error that the server answered with, if it is one. */
async function callTool(
  client: Client,
  name: string,
  args: JsonObject,
  { signal, force: unadvertised = false }: AskOptions,
): Promise<RpcError | undefined> {
  // With a listener the client requests progress, which the view shows as frames.
  const options = { signal, unadvertised, notify: () => undefined };
  try {
    await client.call(methods.callTool, { name, arguments: args }, options);
    return undefined;
  } catch (error) {
    if (error instanceof RpcError) return error; // An error response is shown as a frame.
    throw error;
  }
}

/** The tool or prompt with a name. @throws Failure that names the nearest names */
export function findOffered<Item extends { readonly name: string }>(
  kind: "tool" | "prompt",
  name: string,
  items: readonly Item[],
): Item {
  const found = items.find((item) => item.name === name);
  if (found !== undefined) return found;
  const names = items.map((item) => item.name);
  throw usageFailure(`the server has no ${kind} ${name}: ${offersWords(names)}`, didYouMean(name, names));
}

const mostNamed = 12;

/** A sentence with the first few names that a server offers. */
function offersWords(names: readonly string[]): string {
  if (names.length === 0) return "it offers none";
  return `it offers ${names.slice(0, mostNamed).join(", ")}${names.length > mostNamed ? ", …" : ""}`;
}

function reasonToSkip({ inputSchema, annotations }: Tool): Skipped["why"] | undefined {
  if (annotations?.readOnlyHint !== true) return "is not marked read-only";
  const { required } = inputSchema;
  return Array.isArray(required) && required.length > 0 ? "needs arguments" : undefined;
}

/** The tools that were not called or could not run, with the reason. */
export function skippedLines(skipped: readonly Skipped[]): readonly string[] {
  return reasons.flatMap(({ why, words, hint }) => {
    const tools = skipped.filter((each) => each.why === why).map(({ tool }) => tool);
    return tools.length === 0 ? [] : [`${words}: ${tools.join(", ")}${hint(tools[0] ?? "")}`];
  });
}

interface Reason {
  readonly why: Skipped["why"];
  readonly words: string;
  readonly hint: (tool: string) => string;
}

const reasons: readonly Reason[] = [
  ...Object.entries(answersTo).map(([capability, option]): Reason => {
    const why = capability as keyof typeof answersTo; // A key of the object.
    return { why, words: `did not run without ${capability}`, hint: () => `   (${option})` };
  }),
  { why: "needs arguments", words: "not called, arguments needed", hint: (tool) => `   (--call "${tool} name=value")` },
  { why: "is not marked read-only", words: "not called, not marked read-only", hint: () => "" },
];

/** A kind of list, by its name on the command line. */
export type ListName = "tools" | "resources" | "templates" | "prompts";

/** A list that a server offers when it declares a capability. */
export interface OfferedList {
  readonly name: ListName;
  readonly capability: keyof ServerCapabilities;
  readonly method: string;
  /** The member of the result that holds the items. */
  readonly member: string;
}

const toolList: OfferedList = { name: "tools", capability: "tools", method: methods.listTools, member: "tools" };

/** All lists, in the order of the requests. */
export const offeredLists: readonly OfferedList[] = [
  toolList,
  { name: "resources", capability: "resources", method: methods.listResources, member: "resources" },
  { name: "templates", capability: "resources", method: methods.listResourceTemplates, member: "resourceTemplates" },
  { name: "prompts", capability: "prompts", method: methods.listPrompts, member: "prompts" },
];

/** The maximum number of pages of a list: a server may send cursors without end. */
const mostPages = 64;
const mostItems = 10_000;

/** Options of requesting lists. */
export interface AskOptions {
  readonly signal: AbortSignal;
  /** Whether to request lists that are not advertised, too. */
  readonly force?: boolean;
}

interface ExerciseOptions extends AskOptions {
  /** Called with every item of every list. */
  readonly onItem?: (list: ListName, item: unknown) => void;
}

/** Whether an error ends more than its call. Over HTTP, each response can break off by itself. */
export function isOver({ connection }: Client, error: unknown): boolean {
  return !(error instanceof LocalError) || error.reason === "cancelled" || connection.phase !== "open";
}

/** Requests every advertised list, and returns the tools, or why not all of them are known. Refused lists are skipped. */
async function listAdvertised(
  client: Client,
  options: ExerciseOptions,
  fail: (error: unknown) => void,
): Promise<{ readonly tools: readonly Tool[]; readonly unlisted: unknown }> {
  const tools: unknown[] = [];
  let unlisted: unknown;
  for (const list of offeredLists) {
    if (!isAsked(client, list, options.force)) continue;
    const take = (item: unknown): void => {
      options.onItem?.(list.name, item);
      if (list === toolList) tools.push(item);
    };
    await readList(client, list, options, take).catch((error: unknown) => {
      if (list === toolList) unlisted = error;
      if (!(error instanceof RpcError)) fail(error);
    });
  }
  return { tools: tools.flatMap((item) => toolOf(item) ?? []), unlisted };
}

/** Whether to request a list: it is advertised, or `force` is set. */
export function isAsked({ server }: Client, { capability }: OfferedList, force = false): boolean {
  return force || server.capabilities[capability] !== undefined;
}

/**
 * Passes on the items of a list as they arrive. Returns why it stopped before the end; undefined at the end.
 * @throws RpcError if the server refuses; LocalError as `Client.call`
 */
export async function readList(
  client: Client,
  { method, member }: OfferedList,
  { signal, force = false }: AskOptions,
  take: (item: unknown) => void,
): Promise<string | undefined> {
  const seen = new Set<unknown>();
  const broken: string[] = [];
  let given = 0;
  for (let params: JsonObject = {}, page = 1; page <= mostPages; page += 1) {
    const { [member]: found, nextCursor: cursor } = await client.call(method, params, {
      signal,
      partial: true,
      unadvertised: force,
    });
    if (!Array.isArray(found)) return `the member ${member} of its result is not an array`;
    given += found.length;
    for (const item of found) {
      if (item instanceof OutOfBounds) broken.push(`${shownName(item)} is ${item.reason}`);
      else take(item);
    }
    if (typeof cursor !== "string") return broken.length === 0 ? undefined : `left out: ${broken.join(", ")}`;
    if (seen.has(cursor)) return "the server repeats a cursor";
    if (given >= mostItems) break;
    seen.add(cursor);
    params = { cursor };
  }
  return `there is more than ${given} items`;
}

/** An item of a list as a tool; undefined if it is none. Without a schema it gets a default one: any arguments are allowed. */
export function toolOf(value: unknown): Tool | undefined {
  if (!isObject(value) || typeof value.name !== "string") return undefined;
  const { inputSchema = null } = value;
  if (inputSchema !== null && !isObject(inputSchema)) return undefined;
  return { ...value, name: value.name, inputSchema: { ...inputSchema, type: "object" } };
}

function shownName({ members }: OutOfBounds): string {
  const { name = members.uri } = members;
  return typeof name === "string" ? escapeControls(JSON.stringify(name)) : "an item without a name";
}
