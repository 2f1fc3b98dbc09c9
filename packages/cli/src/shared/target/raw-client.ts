import { type Framing, lines } from "@parlance/mcp/jsonrpc";
import type { Revision } from "@parlance/mcp/protocol";
import { RawChannel, type RawClient, RawHttp, type RawOptions, recordedBytes } from "@parlance/wire";
import { type Route, signalGroup, type TargetChannel } from "./route.js";

type RawTransport = Pick<ConstructorParameters<typeof RawChannel>[0], "channel" | "write" | "kill">;

interface OpenOptions extends RawOptions {
  /** Milliseconds to wait for the first response of a server on a channel, which may have to start. Default: `timeout`. */
  readonly firstTimeout?: number;
  /** The revision of the session, as far as it is known. */
  readonly revision: Revision | undefined;
}

/** Opens a raw client on a route. Nothing is sent. */
export function openRawClient(route: Route, { revision, ...options }: OpenOptions): RawClient {
  const { writer, session: s } = options;
  if (route.kind === "channel") {
    const onStderr = (chunk: Uint8Array): void =>
      writer.write((n, t) => ({ k: "e", n, s, t, ...recordedBytes(chunk) }));
    return new RawChannel({ ...options, ...rawTransport(route.dial({ onStderr })) });
  }
  const { url, headers } = route;
  const mirrors = revision?.era === "stateless";
  return new RawHttp({ ...options, url: url.href, headers, mirrors, version: mirrors ? revision.version : undefined });
}

/** The transport of a raw client on a channel. A process accepts arbitrary bytes on its stdin, and can be killed. */
export function rawTransport(channel: TargetChannel): RawTransport {
  if (!("stdin" in channel)) return { channel };
  return {
    channel,
    write: (bytes) => void channel.stdin?.write(bytes),
    kill: () => signalGroup(channel.pid, "SIGKILL"),
  };
}

/** The framing of stdio, with an observer of the raw bytes. */
export function observedLines(onBytes: (chunk: Uint8Array) => void): Framing {
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
