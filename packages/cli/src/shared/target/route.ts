import type { Channel } from "@parlance/mcp/jsonrpc";
import { type ChildChannel, type Command, childChannel } from "@parlance/mcp/node";
import type { CommandTarget, UrlTarget } from "./configured-target.js";
import type { Target } from "./target.js";

type ChildChannelOptions = NonNullable<Parameters<typeof childChannel>[1]>;

/** A channel to a target; for a started process, with the members of a child channel. */
export type TargetChannel = Channel & Partial<ChildChannel>;

/** Options of opening a channel. Each kind of target uses those that apply to it. */
export interface DialOptions extends Pick<ChildChannelOptions, "onStderr" | "framing" | "exitGrace"> {
  /** Milliseconds until a WebSocket must be open. */
  readonly openTimeout?: number;
  /** Kills all started processes at once when it is aborted. */
  readonly force?: AbortSignal;
}

/** How a target is reached: over channels, one for each conversation, or by HTTP requests. */
export type Route =
  | { readonly kind: "channel"; readonly dial: (options?: DialOptions) => TargetChannel }
  | ({ readonly kind: "http" } & Pick<UrlTarget, "url" | "headers" | "recorded">);

/** The route to a target. Parts of the library are loaded on demand, because each kind of target needs another part. */
export async function routeTo(target: Target): Promise<Route> {
  if (target.kind === "module") return { kind: "channel", dial: target.dial };
  if (target.kind === "command") {
    const dial = ({ openTimeout, force, ...options }: DialOptions = {}): TargetChannel =>
      owned(childChannel(commandOf(target), options), force);
    return { kind: "channel", dial };
  }
  const { url, headers, recorded } = target;
  if (!url.protocol.startsWith("ws")) return { kind: "http", url, headers, ...(recorded && { recorded }) };
  const { nodeWebSocketChannel } = await import("@parlance/mcp/websocket");
  const sent = { headers: Object.fromEntries(headers) };
  const dial = ({ openTimeout }: DialOptions = {}): TargetChannel =>
    nodeWebSocketChannel(url, openTimeout === undefined ? sent : { ...sent, openTimeout });
  return { kind: "channel", dial };
}

/** The command of a target for the library, with all variables of this process, as a shell starts it. */
function commandOf({ command, args, env, cwd }: CommandTarget): Command {
  return { command, args, env, inheritEnv: "all", ...(cwd !== undefined && { cwd }) };
}

/** The started processes that are not known to have exited. */
const running = new Set<ChildChannel>();

/** Ensures that a process does not outlive this program or a second interrupt. */
function owned(child: ChildChannel, force: AbortSignal | undefined): ChildChannel {
  if (running.size === 0) process.once("exit", killRunning);
  for (const each of running) if (each.exit !== undefined) running.delete(each);
  running.add(child);
  force?.addEventListener("abort", killRunning); // A signal keeps the same listener once.
  return child;
}

function killRunning(): void {
  for (const { pid, exit } of running) if (exit === undefined) signalGroup(pid, "SIGKILL");
}

/** Sends a signal to a process group; on Windows to the process alone. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // The process has exited.
  }
}
