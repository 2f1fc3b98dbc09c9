import { type CallToolResult, methods, type ProgressParams, type Tool } from "@parlance/mcp";
import { type Client, RpcError } from "@parlance/mcp/client";
import { codes } from "@parlance/mcp/jsonrpc";
import type { Command } from "commander";
import { findTool } from "../conversation.js";
import { converse } from "../converse.js";
import { progressWords } from "../digest.js";
import { exitCodeHelp, exitCodes } from "../exit-codes.js";
import { Failure, toFailure, usageFailure } from "../failure.js";
import type { Frame, Tally } from "../frames.js";
import type { Invocation } from "../invocation.js";
import type { Observation } from "../observed-target.js";
import {
  addConversationOptions,
  addForceOption,
  type ConversationFlags,
  chooseTarget,
  type ForceFlags,
  parseRevision,
} from "../options.js";
import { jsonLine } from "../print/json-lines.js";
import { alsoBroken, bytesText, durationText } from "../print/quantities.js";
import { toolResultLines } from "../print/tool-result.js";
import { targetHelp } from "../target.js";
import type { Output } from "../terminal.js";
import { argumentHelp, argumentsFor, parseArguments, type WrittenArgument } from "../tool-arguments.js";

interface CallFlags extends ConversationFlags, ForceFlags {
  readonly revision?: string;
  readonly json?: true;
}

function answersCall({ from, parts }: Frame): boolean {
  return from === "server" && parts.some(({ method, latency }) => method === methods.callTool && latency !== undefined);
}

const examples = `Examples:
  parlance call "node server.js" add a:=2 b:=3
  parlance call add a=2 b=3 -- node server.js
  parlance call --header 'X-Key: abc' https://example.com/mcp add a=2 b=3
  parlance call --json ./server.js search query=alice | jq .structuredContent`;

/** Adds `parlance call`. */
export function registerCall(program: Command, invocation: Invocation): void {
  const command = program
    .command("call")
    .summary("call one tool of a server, and print its result")
    .description("Call one tool of a server and print its result: on stdout; what it took, on stderr.")
    .usage(
      "[options] <target> <tool> [name=value…]\n       parlance call [options] <tool> [name=value…] -- command args…",
    )
    .argument("[words...]", "see below")
    .option("--revision <version>", "insist on this one (default: the newest of both sides)", parseRevision)
    .option("--json", "print the result as JSON, for programs");
  addConversationOptions(addForceOption(command))
    .addHelpText("after", `\n${targetHelp}\n\n${argumentHelp}\n\n${exitCodeHelp}\n\n${examples}`)
    .action((words: readonly string[], flags: CallFlags) => invocation.run(() => call(words, flags, invocation)));
}

async function call(words: readonly string[], flags: CallFlags, invocation: Invocation): Promise<number> {
  const [word, rest] = invocation.command === undefined ? [words[0], words.slice(1)] : [undefined, words];
  const [name, ...others] = rest;
  const written = parseArguments(others);
  const target = await chooseTarget(word, invocation.command, flags);
  if (name === undefined)
    throw usageFailure("there is no tool to call", `parlance call ${JSON.stringify(target.title)} <tool>`);
  let answer: Frame | undefined;
  const onObservation = (observation: Observation): void => {
    if (observation.kind === "frame" && answersCall(observation.frame)) answer = observation.frame;
  };
  return converse({ target, flags, invocation, onObservation }, async (client, observed) => {
    const result = await callTool(client, { name, written, unadvertised: flags.force === true }, invocation);
    if (flags.json === true) invocation.out.print(jsonLine(result));
    else invocation.out.print(...toolResultLines(result, invocation.out.style));
    printCosts(result, answer, observed.log.tally, invocation.err);
    return result.isError === true ? exitCodes.toolFailed : exitCodes.clean;
  });
}

interface WrittenCall {
  readonly name: string;
  readonly written: readonly WrittenArgument[];
  readonly unadvertised: boolean;
}

async function callTool(
  client: Client,
  { name, written, unadvertised }: WrittenCall,
  { err, interrupt }: Invocation,
): Promise<CallToolResult> {
  const options = { signal: interrupt.stop, unadvertised };
  const isOffered = unadvertised || client.server.capabilities.tools !== undefined;
  if (!isOffered) throw usageFailure("the server does not advertise tools", "--force asks for them all the same");
  const tools: readonly Tool[] = await client.tools.list(options).all();
  const args = argumentsFor(written, findTool(name, tools).inputSchema);
  const onProgress = (progress: ProgressParams): void => {
    err.status(progressWords({ ...progress }));
  };
  const result = await client.tools.call(name, args, { ...options, onProgress }).catch(explainInternal);
  err.status("");
  return result;
}

/** An internal error says nothing, and no more to a model: what to do about it is for the author of the tool. */
function explainInternal(error: unknown): never {
  if (!(error instanceof RpcError) || error.code !== codes.internalError) throw error;
  const { message, exitCode, seen } = toFailure(error, "open");
  const remedy =
    "the tool threw an error, or returned what cannot be sent: the server's own log says which; a model sees none of it, " +
    "but a tool that throws a ToolError, or returns isError: true, tells it why";
  throw new Failure(message, { exitCode, seen, remedy, cause: error });
}

/** What the call took, and how it went. */
function printCosts(
  { isError }: CallToolResult,
  answer: Frame | undefined,
  { violations }: Tally,
  { style, print }: Output,
): void {
  const latency = answer?.parts[0]?.latency;
  const took = [
    ...(latency === undefined ? [] : [durationText(latency)]),
    ...(answer === undefined ? [] : [bytesText(answer.bytes)]),
  ];
  print(style.dim([...took, isError === true ? style.red("isError") : "ok"].join(" · ")));
  if (violations > 0) print(style.yellow(alsoBroken(violations)));
}
