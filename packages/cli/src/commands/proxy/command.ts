import { isIPv4 } from "node:net";
import { type Command, InvalidArgumentError, Option } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import { messageOf, unreachableFailure, usageFailure } from "../../shared/failure.js";
import { addFaultOptions, type FaultFlags, faultPlan, httpFaultHelp } from "../../shared/faults/fault.js";
import { addBreakOption, type BreakFlags, breakpointsOf } from "../../shared/intercept/break-option.js";
import { aborted } from "../../shared/interrupt.js";
import type { Invocation } from "../../shared/invocation.js";
import { addOriginOption, type OriginFlags } from "../../shared/origin-option.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { count } from "../../shared/output/quantities.js";
import { missingAtEnd, Recorder } from "../../shared/recorder/recorder.js";
import { hostName, newRecordingPath } from "../../shared/recorder/recording-name.js";
import type { PageServer } from "../open/page-server.js";
import { type HttpProxy, keepSecretsHelp, type ProxyOptions, proxyHeader, startProxy } from "./proxy.js";
import { ProxyInterceptor } from "./proxy-interceptor.js";

interface ProxyFlags extends FaultFlags, OriginFlags, BreakFlags {
  readonly target?: URL;
  readonly listen?: ListenAt;
  readonly record?: string;
  readonly keepSecrets?: true;
  readonly name?: string;
  readonly exposed?: true;
  readonly iKnow?: true;
  readonly json?: true;
}

/** The address to listen at. */
interface ListenAt {
  readonly host: string;
  readonly port: number;
}

/** Tried first, so that a configured client keeps working. */
const usualPort = 7777;

const about = `Record the messages between clients and an HTTP server: give clients the printed
address instead of the server's. Everything is forwarded as it arrives, event by event,
and recorded: headers in their order and case, bodies, and each event with its time.`;

const contract = `Sign-in (OAuth) works through the proxy: the address of the server becomes that
of the proxy in WWW-Authenticate, redirects and documents under /.well-known,
and becomes the server's again in the requests of clients.
For other paths than the server's own, only headers are recorded, not bodies.
In recordings the values of headers like Authorization, Cookie and X-Api-Key,
and tokens in URLs, are covered, unless --keep-secrets is given. Bodies are
recorded unchanged: parlance redact covers the secrets in them.`;

const examples = `Exit codes:
  0  ended by Ctrl-C or SIGTERM
  1  the command line is wrong
  3  the address is in use, or not one of this machine

Examples:
  parlance proxy --target http://localhost:3000/mcp
  parlance proxy --target https://example.com/mcp --listen 127.0.0.1:8080
  parlance proxy --target https://example.com/mcp --record run.parlance.jsonl
  parlance proxy --target http://localhost:3000/mcp --fault 'tool:x => http 429'`;

/** Adds `parlance proxy`. */
export function registerProxy(program: Command, invocation: Invocation): void {
  const command = program
    .command("proxy")
    .summary("record the messages between clients and an HTTP server")
    .description(about)
    .usage("[options] --target <url>")
    .option("--target <url>", "the MCP endpoint of the server", target)
    .option(
      "--listen <host:port>",
      `the address for clients (default: 127.0.0.1:${usualPort}, or a free port)`,
      listenAt,
    )
    .option("--exposed", "allow an address that other machines can reach, and any Host header")
    .addOption(new Option("--i-know", "the former name of --exposed").hideHelp())
    .option("--record <file>", "record to this file; a file that is not empty is never overwritten")
    .option("--keep-secrets", keepSecretsHelp)
    .option("--name <name>", "the server's name in the name of the recording")
    .option("--ui", "also show the recording in the browser")
    .option("--json", "print one JSON object per line, for programs");
  addOriginOption(command);
  addFaultOptions(addBreakOption(command))
    .addHelpText("after", `\n${httpFaultHelp}\n\n${contract}\n\n${examples}`)
    .action((flags: ProxyFlags) => invocation.run(() => proxy(flags, invocation)));
}

async function proxy(flags: ProxyFlags, invocation: Invocation): Promise<number> {
  const { out, err, interrupt } = invocation;
  const { target, keepSecrets = false } = flags;
  const isExposed = flags.exposed === true || flags.iKnow === true;
  if (target === undefined)
    throw usageFailure("there is no server to forward to", "parlance proxy --target http://localhost:3000/mcp");
  const plan = faultPlan(flags, "http");
  const breakpoints = breakpointsOf(flags);
  const { listen = { host: "127.0.0.1", port: usualPort } } = flags;
  if (!isExposed && !isLoopback(listen.host)) {
    throw usageFailure(
      `${listen.host} can be reached by other machines: each of them could reach the server through the proxy`,
      "listen on 127.0.0.1, or add --exposed",
    );
  }
  const recorder = new Recorder({
    path: flags.record ?? newRecordingPath(flags.name ?? hostName(target), process.env),
    header: proxyHeader("proxy", target, keepSecrets),
    onViolations: (violations) =>
      out.print(...(flags.json === true ? violations.map((violation) => jsonLine({ violation })) : violations)),
  });
  const interceptor = plan !== undefined || flags.ui === true ? new ProxyInterceptor(plan, recorder) : undefined;
  const proxy = await listenWith(
    {
      target,
      ...listen,
      anyHost: isExposed,
      allowedOrigins: flags.allowOrigin,
      keepsSecrets: keepSecrets,
      recorder,
      interceptor,
    },
    flags.listen !== undefined,
  );
  const path = await recorder.opened;
  if (flags.json === true) out.print(jsonLine({ url: proxy.url.href, target: target.href, recording: path }));
  else {
    out.print(
      `${out.style.bold(proxy.url.href)} forwards to ${target.href}`,
      out.style.dim(`recording to ${path}; Ctrl-C ends it`),
    );
  }
  const page =
    flags.ui === true && interceptor !== undefined
      ? await showPage(path, interceptor, { breakpoints, faults: plan?.rules.map(({ text }) => text) }, invocation)
      : undefined;
  await aborted(interrupt.stop);
  await page?.close();
  await proxy.close();
  const outcome = await recorder.end();
  if (outcome.unreported > 0) err.print(missingAtEnd(outcome));
  if (flags.json !== true) out.print(out.style.dim(`${count(proxy.exchanges, "exchange")} in ${outcome.path}`));
  return exitCodes.clean;
}

/** Shows the recording, with breakpoints and faults. @throws Failure */
async function showPage(
  path: string,
  interceptor: ProxyInterceptor,
  rules: { readonly breakpoints: readonly string[]; readonly faults: readonly string[] | undefined },
  invocation: Invocation,
): Promise<PageServer> {
  const [{ showRecording }, { Interception }] = await Promise.all([
    import("../open/command.js"),
    import("../open/page-interception.js"),
  ]);
  const { breakpoints, faults = [] } = rules;
  const interception = new Interception("http", { breakpoints, faults }, (text) => invocation.err.print(text));
  const port = interception.connect(interceptor);
  interceptor.tell = (report) => port.take(report);
  return showRecording(path, { interception }, invocation);
}

/** Listens at the chosen port; without one, at the usual port, or at any free one if that is taken. @throws Failure */
async function listenWith(options: ProxyOptions, isChosen: boolean): Promise<HttpProxy> {
  try {
    return await startProxy(options);
  } catch (error) {
    if (!isChosen && (error as NodeJS.ErrnoException).code === "EADDRINUSE") return startProxy({ ...options, port: 0 });
    const message = `cannot listen at ${options.host}:${options.port}: ${messageOf(error)}`;
    throw unreachableFailure(message, "--listen 127.0.0.1:0 takes any port that is free", error);
  }
}

function target(text: string): URL {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text);
  throw new InvalidArgumentError("It must be an address like http://localhost:3000/mcp.");
}

function listenAt(text: string): ListenAt {
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) throw new InvalidArgumentError("Write it as 127.0.0.1:7777.");
  return { host: host?.replaceAll(/^\[|\]$/g, "") ?? "127.0.0.1", port: Number(port) };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
