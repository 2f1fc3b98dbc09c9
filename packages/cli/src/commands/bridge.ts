import { type Bridge, type BridgeOptions, bridgeTo, type FarTarget } from "@parlance/mcp/bridge";
import { type Report, visible } from "@parlance/mcp/jsonrpc";
import { stdioChannel } from "@parlance/mcp/node";
import { serveChannel } from "@parlance/mcp/server";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodeHelp, exitCodes } from "../exit-codes.js";
import { Failure, toFailure, usageFailure } from "../failure.js";
import { FarProcesses } from "../far-processes.js";
import type { Invocation } from "../invocation.js";
import { listenAt, listenHelp } from "../listen-at.js";
import { addConversationOptions, type ConversationFlags, chooseTarget, parseRevision } from "../options.js";
import { visibleLines } from "../print/columns.js";
import { printFailure } from "../print/failure.js";
import type { Output } from "../terminal.js";

interface BridgeFlags extends ConversationFlags {
  readonly listen?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly revision?: string;
  readonly json?: true;
}

const about = `Put a server where it is not: on stdin and stdout for a host that only starts
commands, or at an address for clients that only speak HTTP. Either side may speak
any revision; what its era has no word for is said in the other's.`;

const targets = `A <target> is one of
  https://host/mcp     a server on HTTP; wss:// is one on a WebSocket
  -- command args…     a command that speaks on stdin and stdout: one process for each conversation
  "command args…"      the same in one word; quotes work, no shell is involved
  path/to/module.js    a file that exports a server as \`server\` or default, in this process`;

const examples = `Examples:
  parlance bridge https://example.com/mcp
  parlance bridge --header "Authorization: Bearer $TOKEN" https://example.com/mcp
  parlance bridge --listen http://127.0.0.1:8080/mcp -- node server.js
  parlance bridge --revision 2025-11-25 -- uvx some-server`;

/** Milliseconds that running calls have to finish when the program is asked to end. */
const grace = 5_000;

/** Adds `parlance bridge`. */
export function registerBridge(program: Command, invocation: Invocation): void {
  const command = program
    .command("bridge")
    .summary("put a server on another carrier, in whichever revision is spoken there")
    .description(about)
    .usage("[options] <target>\n       parlance bridge [options] -- command args…")
    .argument("[target]", "see below")
    .option("--listen <address>", "serve clients there, instead of the one on stdin and stdout")
    .option("--header <name: value>", "send this header to a server on HTTP; may be repeated", header)
    .option("--revision <version>", "insist on this one at the server", parseRevision)
    .option("--json", "with --listen: print where as a JSON object, for programs");
  addConversationOptions(command, "how long the server has to open a conversation")
    .addHelpText("after", `\n${targets}\n\n${listenHelp}\n\n${exitCodeHelp}\n\n${examples}`)
    .action((word: string | undefined, flags: BridgeFlags) => invocation.run(() => run(word, flags, invocation)));
}

function header(text: string, others: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name = "", value = ""] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === "") throw new InvalidArgumentError('Write it as "Name: value".');
  return { ...others, [name]: value };
}

async function run(word: string | undefined, flags: BridgeFlags, invocation: Invocation): Promise<number> {
  const { err, interrupt } = invocation;
  const lost: Failure[] = [];
  const options: BridgeOptions = {
    timeout: flags.timeout,
    ...(flags.revision !== undefined && { revision: flags.revision }),
    ...(flags.header && { headers: flags.header }),
    candid: flags.listen === undefined, // Whoever has started this program is the one at the near end.
    report: (each) => tell(each, err),
    onLost(error) {
      const failure = withoutLastWords(toFailure(error, "opening"));
      lost.push(failure);
      printFailure(failure, err);
    },
  };
  await using bridge = bridgeTo(await farTarget(word, flags, invocation), options);
  if (flags.listen === undefined) await serveHost(bridge, invocation);
  else await serveClients(bridge, { address: flags.listen, isJson: flags.json === true, invocation });
  if (interrupt.stop.aborted) return interrupt.exitCode;
  return lost[0]?.exitCode ?? exitCodes.clean;
}

async function farTarget(
  word: string | undefined,
  flags: BridgeFlags,
  { command, interrupt, err }: Invocation,
): Promise<FarTarget> {
  if (command === undefined && word !== undefined && isAddress.test(word)) return addressOf(word);
  if (flags.header !== undefined) throw usageFailure("--header is for a server on HTTP, and there is none");
  const target = await chooseTarget(word, command);
  if (target.kind === "module") return target.dial;
  const { args, command: name } = target;
  const started = { command: name, args, env: flags.env ?? {} };
  return new FarProcesses(started, interrupt, (line) => err.print(visible(line))).dial;
}

const isAddress = /^(?:https?|wss?):/i;

function addressOf(word: string): string {
  if (URL.canParse(word)) return word;
  throw usageFailure(`${word} is no URL`, "write all of it: https://example.com/mcp");
}

/** The one who has started this program: the conversation is over with its input. */
async function serveHost(bridge: Bridge, { interrupt, err }: Invocation): Promise<void> {
  const connection = serveChannel(bridge, stdioChannel(), { report: (each) => tell(each, err) });
  interrupt.stop.addEventListener("abort", () => void connection.drain(grace));
  interrupt.force.addEventListener("abort", () => void connection.close());
  await connection.closed;
}

async function serveClients(
  bridge: Bridge,
  {
    address,
    isJson,
    invocation,
  }: { readonly address: string; readonly isJson: boolean; readonly invocation: Invocation },
): Promise<void> {
  const { interrupt, out, err } = invocation;
  const listening = await listenAt(address, bridge, (each) => tell(each, err));
  out.print(isJson ? JSON.stringify({ listening: listening.url }) : `listening at ${listening.url}`);
  await new Promise((resolve) => interrupt.stop.addEventListener("abort", resolve));
  interrupt.force.addEventListener("abort", () => void listening.close());
  await listening.drain(grace);
}

/** What the peers have been told of is theirs to say. */
function tell(report: Report, err: Output): void {
  if (report.kind !== "fault") return;
  const { error, method } = report;
  const why = error instanceof Error ? error.message : String(error);
  err.print(...visibleLines(`${method}: ${why}`));
}

/** The server's last lines on stderr have been passed on as they came. */
function withoutLastWords({ message, exitCode, remedy, cause }: Failure): Failure {
  const headline = message.replace(/; (?:its last lines on stderr:|it wrote nothing to stderr)$/, "");
  return new Failure(headline, remedy === undefined ? { exitCode, cause } : { exitCode, remedy, cause });
}
