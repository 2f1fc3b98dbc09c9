import { type Framing, lines } from "@parlance/mcp/jsonrpc";
import type { Revision } from "@parlance/mcp/protocol";
import { RawChannel, type RawClient, RawHttp, type RawReply, recordedBytes } from "@parlance/wire";
import { innermost, statusRemedy, toFailureAtUrl } from "../client/url-failure.js";
import { exitCodes } from "../exit-codes.js";
import { Failure, lineFeedRemedy, toFailure } from "../failure.js";
import { cut, visibleLines } from "../output/columns.js";
import { type Route, signalGroup, type TargetChannel } from "./route.js";
import type { Target } from "./target.js";

type RawChannelOptions = ConstructorParameters<typeof RawChannel>[0];
type RawTransport = Pick<RawChannelOptions, "channel" | "write" | "kill">;

interface OpenOptions extends Omit<RawChannelOptions, keyof RawTransport> {
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

/** The failure for a reply without an answer: a timeout, an HTTP error status, or a connection that failed or ended. */
export function replyFailure(kind: Target["kind"], { silence, http, error }: RawReply, timeout: number): Failure {
  if (silence === "no answer in time") {
    const remedy = "the server accepted the request and does not respond: look in its log; --timeout 2m waits longer";
    return new Failure(`no answer for ${timeout} ms`, { exitCode: exitCodes.timeout, remedy, cause: error });
  }
  if (silence === "an answer without a line feed") {
    return new Failure(`no answer for ${timeout} ms: it has no line feed at its end`, {
      exitCode: exitCodes.timeout,
      remedy: lineFeedRemedy,
    });
  }
  if (http === undefined) {
    const cause = error ?? new Error("the server closed the connection"); // A WebSocket closes without an error.
    return kind === "url" ? toFailureAtUrl(innermost(cause), "opening") : toFailure(cause, "opening");
  }
  const { status, statusText, text } = http;
  return new Failure(`the server refuses the request: HTTP ${status} ${statusText}`.trimEnd(), {
    exitCode: exitCodes.unreachable,
    seen: visibleLines(text)
      .slice(0, mostLines)
      .map((line) => cut(line, mostCharacters)),
    remedy: statusRemedy(status),
  });
}

/** How much of a body a failure shows: lines, and characters of each. */
const mostLines = 5;
const mostCharacters = 400;

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
        get unfinished() {
          return decoder.unfinished;
        },
      };
    },
  };
}
