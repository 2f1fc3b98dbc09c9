import type { CallToolResult, ContentBlock, Tool } from "@parlance/mcp";
import { type Client, type ClientCallOptions, RpcError } from "@parlance/mcp/client";
import { codes, didYouMean, ExactNumber, escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject, methods } from "@parlance/mcp/protocol";
import { canonicalJson } from "@parlance/wire";
import type { Command } from "commander";
import { findOffered } from "../../shared/client/exercise.js";
import {
  exampleWith,
  type OneRevisionFlags,
  registerServerCommand,
  type TargetWords,
} from "../../shared/client/server-command.js";
import {
  argumentHelp,
  argumentsFor,
  parseArguments,
  type WrittenArgument,
} from "../../shared/client/tool-arguments.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, toFailure, usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { cut, left, widthOf } from "../../shared/output/columns.js";
import { blockLines } from "../../shared/output/content-blocks.js";
import { escapeHidden, prettyJson } from "../../shared/output/json-lines.js";
import type { Style } from "../../shared/output/style.js";
import { defaultRequests, type SavedRequest, SavedRequests } from "../../shared/requests/saved-requests.js";
import { askServer } from "./ask-server.js";

interface CallFlags extends OneRevisionFlags {
  readonly requests?: string;
  readonly save?: string;
}

/** The forms of saved requests, for help pages. */
const requestHelp = `Saved requests are JSON files in .parlance/requests, or in that of --requests:
  { "method": "tools/call", "params": { "name": "add", "arguments": {} } }
  @name         make the request in name.json; arguments replace its own
  @             list them; no server is started
  --save name   write the call to name.json, without _meta; never overwrites`;

/** Adds `parlance call`. */
export function registerCall(program: Command, invocation: Invocation): void {
  registerServerCommand<CallFlags>(program, invocation, {
    name: "call",
    summary: "call one tool of a server, and print its result",
    description: "Call one tool of a server. The result goes to stdout, its time and size to stderr.",
    words: "<tool|@request> [name=value…]",
    addOptions: (command) =>
      void command
        .option("--save <name>", "save the call as a request of this name")
        .option("--requests <folder>", `the folder of saved requests (default: ${defaultRequests})`),
    json: "print the result as JSON, for programs",
    help: [argumentHelp, requestHelp],
    examples: `  parlance call "node server.js" add a:=2 b:=3
  parlance call add a=2 b=3 -- node server.js
  parlance call --header 'X-Key: abc' https://example.com/mcp add a=2 b=3
  parlance call --json ./server.js search query=alice | jq .structuredContent
  parlance call --save three "node server.js" add a=1 b=2
  parlance call "node server.js" @three b=5`,
    run: call,
  });
}

async function call({ target, rest }: TargetWords, flags: CallFlags, invocation: Invocation): Promise<number> {
  const [word, ...others] = rest;
  const written = parseArguments(others);
  const requests = new SavedRequests(flags.requests);
  if (word === "@" || (word === undefined && target === "@")) return listRequests(requests, flags, invocation);
  if (word === undefined) throw usageFailure("there is no tool to call", exampleWith("call", "<tool>", target));
  const save = await saver(requests, flags.save, invocation);
  const request: Pick<SavedRequest, "method" | "params"> = word.startsWith("@")
    ? await requests.read(word.slice(1))
    : { method: methods.callTool, params: { name: word } };
  const asking = { target, flags, invocation };
  const { method, params } = request;
  const { name, arguments: args = {}, ...more } = params;
  if (method !== methods.callTool || typeof name !== "string" || !isObject(args) || Object.keys(more).length > 0)
    return askServer<JsonObject>(asking, {
      method,
      perform: (client, options) => repeat(client, { method, params, written, save }, options),
      lines: (result) => prettyJson(result).split("\n"),
      failed: ({ isError }) => (isError === true ? "isError" : undefined),
    });
  const unknown: string[] = [];
  return askServer<CallToolResult>(asking, {
    method,
    perform: (client, options) => callTool(client, { name, args, written, save, unknown }, options),
    lines: toolResultLines,
    failed: ({ isError }) => (isError === true ? "isError" : undefined),
    notes: () => unknown,
  });
}

/** Saves a request with its typed arguments. */
type Save = (request: Pick<SavedRequest, "method" | "params">) => Promise<void>;

/** The function that saves a request under a name; it does nothing without a name. @throws Failure if the name is taken */
async function saver(requests: SavedRequests, name: string | undefined, { err }: Invocation): Promise<Save> {
  if (name === undefined) return async () => undefined;
  const taken = (): Failure =>
    usageFailure(`there is a request ${name} in ${requests.directory}`, "choose another name, or remove its file");
  if (await requests.has(name)) throw taken();
  return async (request) => {
    const path = await requests.save(name, request, false);
    if (path === undefined) throw taken();
    err.print(err.style.dim(`saved to ${path}`));
  };
}

async function listRequests(requests: SavedRequests, { json }: CallFlags, { out, err }: Invocation): Promise<number> {
  const all = await requests.list();
  const readable = all.flatMap((each) => ("fault" in each ? [] : [each]));
  const width = Math.max(0, ...readable.map(({ name }) => widthOf(name)));
  if (json === true) out.print(escapeHidden(ExactNumber.stringify(readable)));
  else
    for (const { name, method, params, description = subjectOf(params) } of readable)
      out.print(`@${left(name, width)}  ${cut(method, 40)}  ${out.style.dim(cut(description, 200))}`.trimEnd());
  for (const each of all) if ("fault" in each) err.print(err.style.yellow(each.fault));
  if (all.length === 0) err.print(err.style.dim(`there is no request in ${requests.directory}: --save makes one`));
  return exitCodes.clean;
}

function subjectOf({ name, uri }: JsonObject): string {
  return typeof name === "string" ? name : typeof uri === "string" ? uri : "";
}

interface WrittenCall {
  readonly name: string;
  /** The arguments of a saved request. */
  readonly args: JsonObject;
  /** The arguments of the command line, which override the saved ones. */
  readonly written: readonly WrittenArgument[];
  readonly save: Save;
  /** Receives a note on each argument that the tool does not have. */
  readonly unknown: string[];
}

async function callTool(
  client: Client,
  { name, args: saved, written, save, unknown }: WrittenCall,
  options: ClientCallOptions,
): Promise<CallToolResult> {
  const { onProgress: _, ...listing } = options;
  const tools: readonly Tool[] = await client.tools.list(listing).all();
  const { inputSchema } = findOffered("tool", name, tools);
  const args = { ...saved, ...argumentsFor(written, inputSchema) };
  unknown.push(...unknownArguments(args, inputSchema));
  await save({ method: methods.callTool, params: { name, arguments: args } });
  return client.tools.call(name, args, options).catch(explainInternal);
}

/** A note on each argument that a schema does not name, which a tool may ignore without a word; none where it allows others. */
function unknownArguments(
  args: JsonObject,
  { properties, patternProperties, additionalProperties = false }: JsonObject,
): readonly string[] {
  if (patternProperties !== undefined || additionalProperties !== false) return [];
  const names = isObject(properties) ? Object.keys(properties) : [];
  return Object.keys(args)
    .filter((name) => names.length > 0 && !names.includes(name))
    .map((name) => `! the tool has no argument ${name}: ${didYouMean(name, names) ?? `it has ${names.join(", ")}`}`)
    .map(escapeControls);
}

/** Sends a saved request that is not a plain tool call. Arguments are those of a prompt, or members of the params. */
async function repeat(
  client: Client,
  { method, params, written, save }: Pick<SavedRequest, "method" | "params"> & Pick<WrittenCall, "written" | "save">,
  { onProgress: _, ...options }: ClientCallOptions,
): Promise<JsonObject> {
  const args = argumentsFor(written, {});
  const { arguments: known = {} } = params;
  const isNested = method === methods.getPrompt || method === methods.callTool;
  const whole = isNested && isObject(known) ? { ...params, arguments: { ...known, ...args } } : { ...params, ...args };
  await save({ method, params: whole });
  return client.call(method, whole, options);
}

/** Adds a remedy for the author of the tool to an internal error without details. */
function explainInternal(error: unknown): never {
  if (!(error instanceof RpcError) || error.code !== codes.internalError || error.message !== bareMessage) throw error;
  const { message, exitCode, seen } = toFailure(error, "open");
  const remedy =
    "the tool threw an error, or returned what cannot be sent: the server's own log says which; a model sees none of it, " +
    "but a tool that throws a ToolError, or returns isError: true, tells it why";
  throw new Failure(message, { exitCode, seen, remedy, cause: error });
}

const bareMessage = "Internal error";

/** The result of a tool: text content unchanged, structured content as JSON, other content described. */
function toolResultLines(result: CallToolResult, style: Style): readonly string[] {
  const { content, structuredContent } = result;
  const structured = "structuredContent" in result ? prettyJson(structuredContent).split("\n") : [];
  // A tool repeats its structured output as text, for clients that read only text.
  const blocks = content.filter((block) => structured.length === 0 || !repeats(block, structuredContent));
  return [...blocks.flatMap((block) => blockLines(block, style)), ...structured];
}

function repeats(block: ContentBlock, structured: unknown): boolean {
  if (block.type !== "text") return false;
  try {
    return canonicalJson(JSON.parse(block.text)) === canonicalJson(structured);
  } catch {
    return false; // Text that is not JSON does not repeat the structured content.
  }
}
