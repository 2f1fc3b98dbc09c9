import { isDeepStrictEqual } from "node:util";
import type { CallToolResult, ContentBlock, Tool } from "@parlance/mcp";
import { type Client, type ClientCallOptions, RpcError } from "@parlance/mcp/client";
import { codes } from "@parlance/mcp/jsonrpc";
import { methods } from "@parlance/mcp/protocol";
import type { Command } from "commander";
import { findTool } from "../../shared/client/exercise.js";
import { registerServerCommand, type ServerFlags, type TargetWords } from "../../shared/client/server-command.js";
import {
  argumentHelp,
  argumentsFor,
  parseArguments,
  type WrittenArgument,
} from "../../shared/client/tool-arguments.js";
import { Failure, toFailure, usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { blockLines } from "../../shared/output/content-blocks.js";
import { prettyJson } from "../../shared/output/json-lines.js";
import type { Style } from "../../shared/output/style.js";
import { askServer } from "./ask-server.js";

interface CallFlags extends ServerFlags {
  readonly revision?: string;
}

/** Adds `parlance call`. */
export function registerCall(program: Command, invocation: Invocation): void {
  registerServerCommand<CallFlags>(program, invocation, {
    name: "call",
    summary: "call one tool of a server, and print its result",
    description: "Call one tool of a server. The result goes to stdout, its time and size to stderr.",
    words: "<tool> [name=value…]",
    json: "print the result as JSON, for programs",
    help: [argumentHelp],
    examples: `  parlance call "node server.js" add a:=2 b:=3
  parlance call add a=2 b=3 -- node server.js
  parlance call --header 'X-Key: abc' https://example.com/mcp add a=2 b=3
  parlance call --json ./server.js search query=alice | jq .structuredContent`,
    run: call,
  });
}

async function call({ target, rest }: TargetWords, flags: CallFlags, invocation: Invocation): Promise<number> {
  const [name, ...others] = rest;
  const written = parseArguments(others);
  if (name === undefined) throw usageFailure("there is no tool to call", "parlance call <tool> -- node server.js");
  return askServer<CallToolResult>(
    { target, flags, invocation },
    {
      method: methods.callTool,
      perform: (client, options) => callTool(client, { name, written }, options),
      lines: toolResultLines,
      failed: ({ isError }) => (isError === true ? "isError" : undefined),
    },
  );
}

interface WrittenCall {
  readonly name: string;
  readonly written: readonly WrittenArgument[];
}

async function callTool(
  client: Client,
  { name, written }: WrittenCall,
  options: ClientCallOptions,
): Promise<CallToolResult> {
  const { onProgress: _, ...listing } = options;
  const tools: readonly Tool[] = await client.tools.list(listing).all();
  const args = argumentsFor(written, findTool(name, tools).inputSchema);
  return client.tools.call(name, args, options).catch(explainInternal);
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
  // A tool with structured output repeats it as text, for clients that read nothing else.
  const blocks = content.filter((block) => structured.length === 0 || !repeats(block, structuredContent));
  return [...blocks.flatMap((block) => blockLines(block, style)), ...structured];
}

function repeats(block: ContentBlock, structured: unknown): boolean {
  if (block.type !== "text") return false;
  try {
    return isDeepStrictEqual(JSON.parse(block.text), structured);
  } catch {
    return false; // Text that is not JSON does not repeat the structured content.
  }
}
