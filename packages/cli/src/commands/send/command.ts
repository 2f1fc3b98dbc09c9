import { latestHandshake } from "@parlance/mcp";
import { revisionOf } from "@parlance/mcp/protocol";
import type { Command } from "commander";
import { withKeptToken } from "../../shared/client/sign-in.js";
import { exitCodeHelp, exitCodes } from "../../shared/exit-codes.js";
import { toFailure, usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import {
  addConversationOptions,
  type ConversationFlags,
  chooseTarget,
  parseRevision,
  parseTimeout,
} from "../../shared/options.js";
import { count } from "../../shared/output/quantities.js";
import { printFailure } from "../../shared/output/terminal.js";
import { targetHelp } from "../../shared/target/target.js";
import { payloadHelp, payloadOf, RawTraffic, sendBytes } from "./send-bytes.js";
import { type SendView, sendJson, sendText } from "./view.js";

interface SendFlags extends ConversationFlags {
  readonly open?: true;
  readonly revision?: string;
  readonly line?: true;
  readonly wait?: number;
  readonly hex?: true;
  readonly json?: true;
}

const about = `Send exact bytes to a server, and show everything that comes back. Nothing is repaired:
half a line, a wrong id or invalid UTF-8 are sent unchanged. A command gets the bytes on
its stdin, an HTTP URL as the body of one POST, a WebSocket as one message.`;

const examples = `Examples:
  parlance send --line '{"jsonrpc":"2.0","id":1,"method":"ping"}' -- node server.js
  parlance send --open --line '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' -- node server.js
  parlance send "node server.js" @half-a-line.txt --hex
  parlance send https://example.com/mcp @request.json --header 'Authorization: Bearer abc'`;

/** Adds `parlance send`. */
export function registerSend(program: Command, invocation: Invocation): void {
  const command = program
    .command("send")
    .summary("send exact bytes to a server, and show what comes back")
    .description(about)
    .usage("[options] <target> <message>\n       parlance send [options] <message> -- command args…")
    .argument("[target...]", "see below")
    .option("--line", "add a newline, which ends a message on stdio")
    .option("--open", "send a handshake before the message")
    .option(
      "--revision <version>",
      `the revision of the handshake (default: ${latestHandshake.version})`,
      parseRevision,
    )
    .option("--wait <duration>", "wait this long for messages (default: until none has come for 1 s)", parseTimeout)
    .option("--hex", "also show the bytes")
    .option("--json", "print one JSON object per line, for programs");
  addConversationOptions(command, "how long to wait for an answer")
    .addHelpText("after", `\n${targetHelp}\n\n${payloadHelp}\n\n${exitCodeHelp}\n\n${examples}`)
    .action((words: readonly string[], flags: SendFlags) => invocation.run(() => send(words, flags, invocation)));
}

async function send(words: readonly string[], flags: SendFlags, invocation: Invocation): Promise<number> {
  const [word, rest] = invocation.command === undefined ? [words[0], words.slice(1)] : [undefined, words];
  const [message, ...more] = rest;
  if (message === undefined || more.length > 0)
    throw usageFailure(
      message === undefined ? "there is nothing to send" : `there is more than one thing to send: ${rest.join(" ")}`,
      `parlance send --line '{"jsonrpc":"2.0","id":1,"method":"ping"}' -- node server.js`,
    );
  if (word !== undefined && /^\s*[{[@]/.test(word))
    throw usageFailure("the message stands where the target is", "parlance send <target> <message>");
  const { out, err, interrupt } = invocation;
  const opening = openingOf(flags);
  const target = await withKeptToken(await chooseTarget(word, invocation.command, flags));
  const bytes = await payloadOf(message, flags.line === true);
  const look = { hex: flags.hex === true, bodies: target.kind === "url" && target.url.protocol.startsWith("http") };
  const view = flags.json === true ? sendJson(out, look) : sendText(out, look);
  const traffic = new RawTraffic(view, { stdio: target.kind === "command" });
  view.begin();
  const options = { opening, wait: flags.wait, timeout: flags.timeout, stop: interrupt.stop, view, traffic };
  try {
    await sendBytes(target, bytes, options);
  } catch (error) {
    if (interrupt.stop.aborted) return interrupt.exitCode;
    const failure = toFailure(error, "opening");
    printFailure(failure, err);
    return failure.exitCode;
  }
  return interrupt.stop.aborted ? interrupt.exitCode : verdict(traffic, view);
}

function openingOf({ open, revision = latestHandshake.version }: SendFlags): string | undefined {
  if (open !== true) return undefined;
  if (revisionOf(revision)?.era === "handshake") return revision;
  throw usageFailure(`${revision} has no handshake: leave out --open, and name the revision in params._meta`);
}

function verdict({ conversation, owed }: RawTraffic, view: SendView): number {
  if (owed.length > 0) {
    view.remark(`${count(owed.length, "request")} without an answer`);
    return exitCodes.timeout;
  }
  return conversation.tally.violations > 0 ? exitCodes.violations : exitCodes.clean;
}
