import { type CallToolResult, methods, type ProgressParams, type Tool } from "@parlance/mcp";
import type { Client } from "@parlance/mcp/client";
import type { Command } from "commander";
import { findTool } from "../conversation.js";
import { converse } from "../converse.js";
import { progressWords } from "../digest.js";
import { exitCodeHelp, exitCodes } from "../exit-codes.js";
import { usageFailure } from "../failure.js";
import type { Frame, Tally } from "../frames.js";
import type { Invocation } from "../invocation.js";
import type { Observation } from "../observed-target.js";
import { addConversationOptions, type ConversationFlags, chooseTarget, parseRevision } from "../options.js";
import { jsonLine } from "../print/json-lines.js";
import { alsoBroken, bytesText, durationText } from "../print/quantities.js";
import { toolResultLines } from "../print/tool-result.js";
import { targetHelp } from "../target.js";
import type { Output } from "../terminal.js";
import { argumentHelp, argumentsFor, parseArguments, type WrittenArgument } from "../tool-arguments.js";

interface CallFlags extends ConversationFlags {
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
  addConversationOptions(command)
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
    const result = await callTool(client, { name, written }, invocation);
    if (flags.json === true) invocation.out.print(jsonLine(result));
    else invocation.out.print(...toolResultLines(result, invocation.out.style));
    printCosts(result, answer, observed.log.tally, invocation.err);
    return result.isError === true ? exitCodes.toolFailed : exitCodes.clean;
  });
}

interface WrittenCall {
  readonly name: string;
  readonly written: readonly WrittenArgument[];
}

async function callTool(
  client: Client,
  { name, written }: WrittenCall,
  { err, interrupt }: Invocation,
): Promise<CallToolResult> {
  const signal = interrupt.stop;
  const tools: readonly Tool[] =
    client.server.capabilities.tools === undefined ? [] : await client.tools.list({ signal }).all();
  const args = argumentsFor(written, findTool(name, tools).inputSchema);
  const onProgress = (progress: ProgressParams): void => {
    err.status(progressWords({ ...progress }));
  };
  const result = await client.tools.call(name, args, { signal, onProgress });
  err.status("");
  return result;
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
