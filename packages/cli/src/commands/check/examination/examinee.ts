import { childChannel } from "@parlance/mcp/node";
import { commandOf } from "../../../shared/target/started-command.js";
import type { Target } from "../../../shared/target/target.js";
import type { ExaminedChannel } from "./channel-line.js";

/** A server that exact bytes can be sent to, again and again from the beginning. */
export type Examinee =
  /** Takes what the server writes to stderr, if it is a process. */
  | { readonly kind: "channel"; readonly dial: (onStderr: (chunk: Uint8Array) => void) => ExaminedChannel }
  | { readonly kind: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** The server that a target names. */
export async function examineeOf(target: Target): Promise<Examinee> {
  if (target.kind === "module") return { kind: "channel", dial: target.dial };
  if (target.kind === "command") {
    return { kind: "channel", dial: (onStderr) => childChannel(commandOf(target), { onStderr }) };
  }
  const { url, headers } = target;
  const sent = Object.fromEntries(headers);
  if (!url.protocol.startsWith("ws")) return { kind: "http", url: url.href, headers: sent };
  const { webSocketChannel } = await import("@parlance/mcp/websocket"); // Its package takes a while to load.
  return { kind: "channel", dial: () => webSocketChannel(url, { headers: sent }) };
}
