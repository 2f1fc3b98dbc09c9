import { type Framing, lines } from "@parlance/mcp/jsonrpc";
import { childChannel } from "@parlance/mcp/node";
import type { Revision } from "@parlance/mcp/protocol";
import { RawChannel, type RawClient, RawHttp, type RawOptions, type RawTransport, recordedBytes } from "@parlance/wire";
import { signalGroup } from "../signal-group.js";
import { commandOf } from "./started-command.js";
import type { Header, Target } from "./target.js";

/** How a channel is dialled. */
export interface DialOptions {
  /** Takes what a started process writes to stderr. */
  readonly onStderr?: (chunk: Uint8Array) => void;
  /** Takes what a started process writes to stdout, before it is cut into lines. */
  readonly onStdout?: (chunk: Uint8Array) => void;
}

/** A server to which raw clients can be opened, each in a session of its own. */
export type RawServer =
  | { readonly kind: "channel"; readonly dial: (options: DialOptions) => RawTransport }
  | { readonly kind: "http"; readonly url: string; readonly headers: readonly Header[] };

/** The server that a target names. */
export async function rawServerOf(target: Target): Promise<RawServer> {
  if (target.kind === "module") return { kind: "channel", dial: () => ({ channel: target.dial() }) };
  if (target.kind === "command") {
    const dial = ({ onStdout, ...options }: DialOptions): RawTransport => {
      const framing = onStdout === undefined ? lines : observedLines(onStdout);
      const channel = childChannel(commandOf(target), { ...options, framing });
      return {
        channel,
        write: (bytes) => void channel.stdin?.write(bytes),
        kill: () => signalGroup(channel.pid, "SIGKILL"),
      };
    };
    return { kind: "channel", dial };
  }
  const { url, headers } = target;
  if (!url.protocol.startsWith("ws")) return { kind: "http", url: url.href, headers };
  const { webSocketChannel } = await import("@parlance/mcp/websocket"); // Its package takes a while to load.
  const dial = (): RawTransport => ({ channel: webSocketChannel(url, { headers: Object.fromEntries(headers) }) });
  return { kind: "channel", dial };
}

/** The framing of stdio, with an observer that takes the bytes first. */
function observedLines(onBytes: (chunk: Uint8Array) => void): Framing {
  return {
    ...lines,
    decoder(sink, maxBytes) {
      const decoder = lines.decoder(sink, maxBytes);
      return {
        push(chunk) {
          onBytes(chunk);
          decoder.push(chunk);
        },
        end: () => decoder.end(),
      };
    },
  };
}

interface OpenOptions extends RawOptions {
  /** Milliseconds to wait for the first answer of a server on a channel, which may have to start. Default: `timeout`. */
  readonly firstTimeout?: number;
  /** The revision of the session, as far as it is known. */
  readonly revision: Revision | undefined;
}

/** Opens a raw client to a server. Nothing is sent. */
export function openRawClient(server: RawServer, { revision, ...options }: OpenOptions): RawClient {
  const { writer, session: s } = options;
  if (server.kind === "channel") {
    const onStderr = (chunk: Uint8Array): void =>
      writer.write((n, t) => ({ k: "e", n, s, t, ...recordedBytes(chunk) }));
    return new RawChannel({ ...options, ...server.dial({ onStderr }) });
  }
  const { url, headers } = server;
  const mirrors = revision?.era === "stateless";
  return new RawHttp({ ...options, url, headers, mirrors, version: mirrors ? revision.version : undefined });
}
