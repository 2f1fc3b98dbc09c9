import { type CallToolResult, methods, type ProgressParams, type Tool } from "@parlance/mcp";
import type { Client } from "@parlance/mcp/client";
import type { Command } from "commander";
import { awaitAftermath, findTool, openConversation } from "../conversation.js";
import { progressWords } from "../digest.js";
import { exitCodeHelp, exitCodes } from "../exit-codes.js";
import { Failure, type Stage, usageFailure } from "../failure.js";
import type { Frame } from "../frames.js";
import type { Invocation } from "../invocation.js";
import { ObservedTarget } from "../observed-target.js";
import { addConversationOptions, type ConversationFlags, chooseTarget, parseRevision } from "../options.js";
import { printArrived, printFailure } from "../print/failure.js";
import { jsonLine } from "../print/json-lines.js";
import { bytesText, count, durationText } from "../print/quantities.js";
import { toolResultLines } from "../print/tool-result.js";
import { type Target, targetHelp } from "../target.js";
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
  parlance call --header 'Authorization: Bearer abc' https://example.com/mcp add a=2 b=3
  parlance call --json ./server.js search query=alice | jq .structuredContent`;

/** Adds `parlance call`. */
export function registerCall(program: Command, invocation: Invocation): void {
  const command = program
    .command("call")
    .summary("call one tool of a server, and print its result")
    .description("Call one tool of a server and print its result: on stdout, and what it took on stderr.")
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
  return new ToolCall({ target, name, written, flags, invocation }).run();
}

interface ToolCallOptions {
  readonly target: Target;
  readonly name: string;
  readonly written: readonly WrittenArgument[];
  readonly flags: CallFlags;
  readonly invocation: Invocation;
}

/** One call, from the start of the server to its end. */
class ToolCall {
  readonly #options: ToolCallOptions;
  readonly #observed: ObservedTarget;
  #answer: Frame | undefined;
  #stage: Stage = "opening";

  constructor(options: ToolCallOptions) {
    const { target, flags, invocation } = options;
    this.#options = options;
    this.#observed = new ObservedTarget(target, {
      env: flags.env ?? {},
      headers: flags.header,
      interrupt: invocation.interrupt,
      onObservation: (observation) => {
        if (observation.kind === "frame" && answersCall(observation.frame)) this.#answer = observation.frame;
      },
    });
  }

  async run(): Promise<number> {
    const { err, interrupt } = this.#options.invocation;
    let client: Client | undefined;
    try {
      client = await this.#open();
      const result = await this.#call(client);
      this.#print(result);
      return result.isError === true ? exitCodes.toolFailed : exitCodes.clean;
    } catch (error) {
      if (interrupt.stop.aborted) return interrupt.exitCode;
      const failure = this.#observed.failure(error, this.#stage);
      await awaitAftermath(interrupt.stop); // What it writes to stderr may come behind what it answers.
      printFailure(this.#withLastWords(failure), err);
      if (failure.exitCode === exitCodes.timeout) printArrived(this.#observed.log.recent, err);
      return failure.exitCode;
    } finally {
      await client?.close();
      await this.#observed.close();
    }
  }

  async #open(): Promise<Client> {
    const { flags, invocation } = this.#options;
    const { timeout, revision } = flags;
    const client = await openConversation(this.#observed, { revision, timeout, interrupt: invocation.interrupt });
    this.#stage = "open";
    return client;
  }

  async #call(client: Client): Promise<CallToolResult> {
    const { name, written, invocation } = this.#options;
    const { err, interrupt } = invocation;
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

  #print(result: CallToolResult): void {
    const { flags, invocation } = this.#options;
    const { out, err } = invocation;
    if (flags.json === true) out.print(jsonLine(result));
    else out.print(...toolResultLines(result, out.style));
    const latency = this.#answer?.parts[0]?.latency;
    const took = [
      latency === undefined ? "" : durationText(latency),
      this.#answer === undefined ? "" : bytesText(this.#answer.bytes),
    ].filter((part) => part !== "");
    const { violations } = this.#observed.log.tally;
    const verdict = result.isError === true ? err.style.red("isError") : "ok";
    err.print(err.style.dim([...took, verdict].join(" · ")));
    if (violations > 0)
      err.print(
        err.style.yellow(
          `the server also sent ${count(violations, "thing")} that break the protocol: parlance talk shows them`,
        ),
      );
  }

  /** What the server said last, where the failure does not have it already. */
  #withLastWords(failure: Failure): Failure {
    const { stderr } = this.#observed;
    const { message, exitCode, seen, remedy, cause } = failure;
    if (stderr.length === 0 || exitCode === exitCodes.usage || exitCode === exitCodes.unreachable) return failure;
    const details = { exitCode, seen: [...seen, "its last lines on stderr:", ...stderr], cause };
    return new Failure(message, remedy === undefined ? details : { ...details, remedy });
  }
}
