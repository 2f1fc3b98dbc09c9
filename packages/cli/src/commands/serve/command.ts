import { relative, resolve } from "node:path";
import { stdioChannel } from "@parlance/mcp/node";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, usageFailure } from "../../shared/failure.js";
import { aborted } from "../../shared/interrupt.js";
import type { Invocation } from "../../shared/invocation.js";
import { addOriginOption, type OriginFlags } from "../../shared/origin-option.js";
import { cut, visibleLines } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { type Output, printFailure } from "../../shared/output/terminal.js";
import { Relay } from "./relay.js";
import { readyReport, serveModule, type Transport, type WorkerReport } from "./serving.js";
import { type ServeEvent, Supervisor } from "./supervisor.js";
import { showTraffic, type Traffic } from "./traffic.js";

interface ServeFlags extends OriginFlags {
  readonly http?: true | number;
  readonly watch?: boolean;
  readonly json?: true;
  readonly traffic?: true;
}

/** A fixed port, so that the configuration of a host stays valid. */
const usualPort = 3000;

const about = `Serve a file that exports a server of @parlance/mcp/server, as \`server\` or
default: on stdin and stdout for a host, or over HTTP.`;

const watchHelp = `With --watch the module runs in a process of its own, which is replaced when
the module or a file that it imports changes (except packages). If the module
cannot be loaded, the error is shown with file and line until the next change.
  over HTTP  the port stays. Clients with a session lose it and open another;
             requests without a session are not affected.
  on stdio   the conversation of the host goes on: the new server receives the
             same handshake, and the host a notification that lists may have
             changed. Calls that take more than two seconds to end fail; the log
             level and subscriptions have to be set again.`;

const exitHelp = `Exit codes:
  0  ended by the host, by Ctrl-C or by SIGTERM
  1  the command line is wrong
  3  the module cannot be loaded, or the port is in use (without --watch)`;

const examples = `Examples:
  parlance serve server.js
  parlance serve server.js --http
  parlance serve server.js --http 8080 --no-watch
  parlance serve server.js --http --watch --traffic
  parlance talk -- parlance serve server.js --watch`;

/** Adds `parlance serve`. */
export function registerServe(program: Command, invocation: Invocation): void {
  const command = program
    .command("serve")
    .summary("serve a module over stdio or HTTP, and reload it when it changes")
    .description(about)
    .usage("[options] <module>")
    .argument("<module>", "see above")
    .option("--http [port]", `serve over HTTP, on this machine only (default port: ${usualPort})`, port)
    .option("--watch", "reload it when it changes (default with --http at a terminal)")
    .option("--no-watch", "do not reload it")
    .option("--traffic", "print every message, and record it (with --http)")
    .option("--json", "print one JSON object per line, for programs (with --http)");
  addOriginOption(command)
    .addHelpText("after", `\n${watchHelp}\n\n${exitHelp}\n\n${examples}`)
    .action((path: string, flags: ServeFlags) => invocation.run(() => serve(path, flags, invocation)));
}

function port(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value < 65_536) return value;
  throw new InvalidArgumentError("A port is a number below 65536; 0 takes a free port.");
}

async function serve(path: string, flags: ServeFlags, invocation: Invocation): Promise<number> {
  const { command, out, err } = invocation;
  if (command !== undefined) throw usageFailure("serve takes a module, not a command", "parlance serve server.js");
  const { http, allowOrigin: allowedOrigins = [], watch = http !== undefined && out.isTerminal } = flags;
  if (http === undefined && allowedOrigins.length > 0) {
    throw usageFailure("--allow-origin is for clients on HTTP", "parlance serve server.js --http");
  }
  if (http === undefined && flags.traffic === true) {
    throw usageFailure("--traffic is for clients on HTTP", `parlance run -- parlance serve ${path}`);
  }
  // On stdio, stdout belongs to the host.
  const [output, json] = [http === undefined ? err : out, flags.json === true];
  const port = http === true ? usualPort : http;
  const traffic =
    port !== undefined && flags.traffic === true
      ? await showTraffic({ port, allowedOrigins, output, json })
      : undefined;
  try {
    const transport: Transport =
      port === undefined ? { kind: "stdio" } : { kind: "http", port: traffic === undefined ? port : 0, allowedOrigins };
    return await serveOn(path, transport, invocation, {
      watch,
      view: inFrontOf(traffic, serveView({ path, output, json, watch })),
    });
  } finally {
    await traffic?.close();
  }
}

/** Wraps the view so that events of the module name the port that shows its traffic. */
function inFrontOf(traffic: Traffic | undefined, view: (event: ServeEvent) => void): (event: ServeEvent) => void {
  if (traffic === undefined) return view;
  return (event) => {
    if (event.kind !== "ready" || event.http === undefined) return view(event);
    traffic.forwardTo(event.http.port);
    return view({ ...event, http: { url: traffic.url.href, port: Number(traffic.url.port) } });
  };
}

async function serveOn(
  path: string,
  transport: Transport,
  { interrupt }: Invocation,
  { watch, view }: { readonly watch: boolean; readonly view: (event: ServeEvent) => void },
): Promise<number> {
  if (watch) {
    const relay = transport.kind === "stdio" ? new Relay(stdioChannel()) : undefined;
    await new Supervisor({ path, transport, interrupt, relay, onEvent: view }).run();
    return exitCodes.clean;
  }
  const stopped = aborted(interrupt.stop);
  // A module may wait for a database or a network while it is loaded.
  const serving = await Promise.race([serveModule(path, transport), stopped]);
  if (serving === undefined) return exitCodes.clean;
  view(readyReport(serving, [resolve(path)]));
  await Promise.race([serving.over, ...(serving.http === undefined ? [] : [stopped])]);
  await serving.http?.drain(drainTime);
  return exitCodes.clean;
}

/** Milliseconds that running calls get to finish when the user ends the command. */
const drainTime = 2_000;

/** The options of the view of `parlance serve`. */
interface ServeViewOptions {
  readonly path: string;
  readonly output: Output;
  readonly json: boolean;
  readonly watch: boolean;
}

/** Prints the events of a served module. */
function serveView(options: ServeViewOptions): (event: ServeEvent) => void {
  const { output, json, path } = options;
  const { style, print } = output;
  if (json) return (event) => print(jsonLine(event));
  let starts = 0;
  return (event) => {
    switch (event.kind) {
      case "ready":
        starts += 1;
        print(...(starts === 1 ? introduction(event, options) : [`${style.green("✔")} ${title(event)} is reloaded`]));
        return;
      case "failed": {
        const { message, seen, remedy } = event;
        printFailure(new Failure(message, { exitCode: exitCodes.unreachable, seen, remedy }), output);
        print(style.dim(`  waiting for ${path} to change`));
        return;
      }
      case "changed":
        print(style.dim(`${cut(relative("", event.file), output.width - 20)} has changed`));
        return;
      case "exited":
        print(`${style.red("✖")} ${path} ${event.how}`, style.dim("  waiting for it to change"));
        return;
    }
  };
}

type Ready = Extract<WorkerReport, { kind: "ready" }>;

function title({ name, version }: Ready): string {
  return visibleLines(`${name} ${version}`).join(" ");
}

function introduction(ready: Ready, { output, path, watch }: ServeViewOptions): readonly string[] {
  const { style } = output;
  const { name, http } = ready;
  const first = `${style.green("✔")} ${style.bold(title(ready))}`;
  const watched = watch ? [style.dim(`  it is reloaded when ${path} or a file that it imports changes`)] : [];
  const entries = (entry: object): readonly string[] => [
    `  ${style.dim("VS Code, .vscode/mcp.json")}  ${jsonLine({ servers: { [name]: entry } })}`,
    `  ${style.dim("Cursor, .cursor/mcp.json")}   ${jsonLine({ mcpServers: { [name]: entry } })}`,
    ...watched,
    style.dim("  Ctrl-C ends it"),
  ];
  if (http !== undefined) return [`${first} at ${style.cyan(http.url)}`, ...entries({ type: "http", url: http.url })];
  // A host reads no hints, and keeps stderr as a log.
  if (process.stdin.isTTY !== true) return watch ? [`${first} on stdin and stdout`, ...watched] : [];
  const args = ["serve", resolve(path)];
  return [`${first} waits for a host on stdin`, ...entries({ command: "parlance", args })];
}
