import { type Bridge, type BridgeOptions, bridgeTo } from "@parlance/mcp/bridge";
import type { Servable } from "@parlance/mcp/client";
import { type Channel, escapeControls, type Report, type Reporter } from "@parlance/mcp/jsonrpc";
import { type HttpServer, serveHttp, serveTcp, stdioChannel } from "@parlance/mcp/node";
import { serveChannel } from "@parlance/mcp/server";
import type { Command } from "commander";
import { hasAuthorization, withKeptTokens } from "../../shared/client/sign-in.js";
import { toFailureAtUrl } from "../../shared/client/url-failure.js";
import { exitCodeHelp, exitCodes } from "../../shared/exit-codes.js";
import { Failure, messageOf, toFailure, unreachableFailure, usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { addConversationOptions, type ConversationFlags, chooseTarget, parseRevision } from "../../shared/options.js";
import { addOriginOption, type OriginFlags } from "../../shared/origin-option.js";
import { visibleLines } from "../../shared/output/columns.js";
import { type Output, printFailure } from "../../shared/output/terminal.js";
import { routeTo } from "../../shared/target/route.js";
import type { Target } from "../../shared/target/target.js";
import { TextLines } from "../../shared/text-lines.js";

interface BridgeFlags extends ConversationFlags, OriginFlags {
  readonly listen?: string;
  readonly revision?: string;
  readonly json?: true;
}

const about = `Serve a server on another transport: on stdin and stdout for a host that only starts
commands, or at an address for clients that only use HTTP. Client and server may use
different revisions; the bridge converts between them.`;

const targets = `A <target> is one of
  https://host/mcp     a server on HTTP; wss:// is one on a WebSocket
  -- command args…     a command that uses stdin and stdout: one process for
                       each conversation
  "command args…"      the same as one argument; quotes work, there is no shell
  path/to/module.js    a file that exports a server as \`server\` or default, in
                       this process`;

const examples = `Examples:
  parlance bridge https://example.com/mcp
  parlance bridge --header "Authorization: Bearer $KEY" https://example.com/mcp
  parlance bridge --listen http://127.0.0.1:8080/mcp -- node server.js
  parlance bridge --env API_KEY -- uvx some-server`;

/** Milliseconds that running calls get to finish after an interrupt. */
const grace = 5_000;

/**
 * Milliseconds until SIGTERM, and then until SIGKILL. Hosts kill a program two seconds after they close its stdin, so its servers
 * must exit earlier.
 */
const exitGrace = 900;

/** Adds `parlance bridge`. */
export function registerBridge(program: Command, invocation: Invocation): void {
  const command = program
    .command("bridge")
    .summary("serve a server on another transport, and in any revision")
    .description(about)
    .usage("[options] <target>\n       parlance bridge [options] -- command args…")
    .argument("[target]", "see below")
    .option("--listen <address>", "serve clients at this address, instead of the one on stdin and stdout")
    .option("--revision <version>", "the only revision to negotiate with the server", parseRevision)
    .option("--json", "with --listen: print the address as a JSON object, for programs");
  addOriginOption(command);
  addConversationOptions(command, "how long to wait until the server has opened a conversation")
    .addHelpText("after", `\n${targets}\n\n${listenHelp}\n\n${exitCodeHelp}\n\n${examples}`)
    .action((word: string | undefined, flags: BridgeFlags) => invocation.run(() => run(word, flags, invocation)));
}

async function run(word: string | undefined, flags: BridgeFlags, invocation: Invocation): Promise<number> {
  const { err, interrupt, command } = invocation;
  if (flags.allowOrigin !== undefined && !flags.listen?.startsWith("http:")) {
    throw usageFailure("--allow-origin is for clients on HTTP", "--listen http://127.0.0.1:8080/mcp");
  }
  const target = await chooseTarget(word, command, flags);
  const toKind = target.kind === "url" ? toFailureAtUrl : toFailure;
  const lost: Failure[] = [];
  const options: BridgeOptions & { readonly timeout: number } = {
    timeout: flags.timeout,
    ...(flags.revision !== undefined && { revision: flags.revision }),
    candid: flags.listen === undefined, // The client on stdio started this program.
    report: (each) => tell(each, err),
    onLost(error) {
      const failure = withoutStderr(toKind(error, "opening"));
      lost.push(failure);
      printFailure(failure, err);
    },
  };
  const bridge = await bridgeFor(target, options, invocation);
  try {
    if (flags.listen === undefined) await serveHost(bridge, invocation);
    else await serveClients(bridge, { ...flags, listen: flags.listen }, invocation);
  } finally {
    await bridge.close(); // `onLost` may be called until everything is closed.
  }
  if (interrupt.stop.aborted) return interrupt.exitCode;
  return lost[0]?.exitCode ?? exitCodes.clean;
}

async function bridgeFor(
  target: Target,
  options: BridgeOptions & { readonly timeout: number },
  { err, interrupt }: Invocation,
): Promise<Bridge> {
  const route = await routeTo(target);
  if (route.kind === "http") {
    const { url, headers } = route;
    // A host starts the bridge without a terminal, and its user is at this machine.
    const auth = hasAuthorization(headers) ? {} : { auth: withKeptTokens(url, { opensBrowser: true }) };
    return bridgeTo(url, { ...options, headers, ...auth });
  }
  const dial = (): Channel => {
    const stderr = new TextLines((line) => err.print(escapeControls(line)));
    const onStderr = (chunk: Uint8Array): void => stderr.push(chunk);
    return route.dial({ onStderr, exitGrace, openTimeout: options.timeout, force: interrupt.force });
  };
  return bridgeTo(dial, target.kind === "url" ? { ...options, reopen: true } : options);
}

/** Serves the client on stdio until it closes stdin. */
async function serveHost(bridge: Bridge, { interrupt, err }: Invocation): Promise<void> {
  const connection = serveChannel(bridge, stdioChannel(), { report: (each) => tell(each, err) });
  interrupt.stop.addEventListener("abort", () => void connection.drain(grace));
  interrupt.force.addEventListener("abort", () => void connection.close());
  await connection.closed;
}

async function serveClients(
  bridge: Bridge,
  { listen, allowOrigin, json }: BridgeFlags & { readonly listen: string },
  { interrupt, out, err }: Invocation,
): Promise<void> {
  const report: Reporter = (each) => tell(each, err);
  const { url, server } = await listenAt(listen, bridge, { report, allowedOrigins: allowOrigin });
  out.print(json === true ? JSON.stringify({ listening: url }) : `listening at ${url}`);
  await new Promise((resolve) => interrupt.stop.addEventListener("abort", resolve));
  interrupt.force.addEventListener("abort", () => void server.close());
  await server.drain(grace);
}

/** Prints faults. Other reports are about errors that a peer has received too. */
function tell(report: Report, err: Output): void {
  if (report.kind !== "fault") return;
  const { error, method } = report;
  const [why = ""] = messageOf(error).split("\n"); // Every other line is stderr, which is printed on arrival.
  err.print(...visibleLines(`${method}: ${why}`));
}

/** Removes the lines of stderr from a failure: they have been printed already. */
function withoutStderr({ message, exitCode, remedy, cause }: Failure): Failure {
  const headline = message.replace(/; (?:its last lines on stderr:|it wrote nothing to stderr)$/, "");
  return new Failure(headline, { exitCode, remedy, cause });
}

/** A listening server, and the URL that clients connect to. */
interface Listening {
  readonly url: string;
  readonly server: Pick<HttpServer, "drain" | "close">;
}

interface ListenOptions {
  readonly report: Reporter;
  /** The allowed origins of web pages, for HTTP. */
  readonly allowedOrigins: readonly string[] | undefined;
}

type Listen = (server: Servable, at: URL, options: ListenOptions) => Promise<Listening>;

/** The functions that listen, by the scheme of the address. */
const transports: Readonly<Record<string, Listen>> = {
  async "http:"(served, { hostname, port, pathname }, { report, allowedOrigins = [] }) {
    // HTTP+SSE of 2024-11-05 is allowed, because every client is on this machine.
    const host = hostname.replace(/^\[|\]$/g, "");
    const path = pathname === "/" ? "/mcp" : pathname;
    const options = { host, port: Number(port), path, legacySse: true, allowedOrigins, report };
    const server = await serveHttp(served, options);
    return { url: server.url, server };
  },
  async "tcp:"(served, { hostname, port }, { report }) {
    const host = hostname.replace(/^\[|\]$/g, "");
    const server = await serveTcp(served, { host, port: Number(port) }, { report });
    const bound = "port" in server.address ? server.address.port : port;
    return { url: `tcp://${hostname}:${bound}`, server };
  },
  async "unix:"(served, { pathname }, { report }) {
    const server = await serveTcp(served, { path: decodeURIComponent(pathname) }, { report });
    return { url: `unix:${pathname}`, server };
  },
};

/** How an address to listen at is written, for help pages. */
const listenHelp = `An <address> is one of
  http://127.0.0.1:8080/mcp   HTTP, for clients of every revision; port 0
                              takes a free port
  tcp://127.0.0.1:7007        lines of JSON on a TCP port of this machine
  unix:/path/to/socket        the same on a Unix socket, for this user alone`;

/** Serves at a local address. @throws Failure for an invalid address, or one that is taken or forbidden */
async function listenAt(address: string, served: Servable, options: ListenOptions): Promise<Listening> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const listen = url === undefined ? undefined : transports[url.protocol];
  if (url === undefined || listen === undefined) {
    throw usageFailure(`${address} is no address to listen at`, "--listen http://127.0.0.1:8080/mcp");
  }
  try {
    return await listen(served, url, options);
  } catch (error) {
    if (error instanceof TypeError) {
      throw usageFailure(
        `${address} can be reached from other machines, and the bridge has no authentication`,
        "listen at 127.0.0.1, behind a proxy that authenticates clients",
      );
    }
    throw unreachableFailure(`cannot listen at ${address}: ${messageOf(error)}`, "port 0 takes a free port", error);
  }
}
