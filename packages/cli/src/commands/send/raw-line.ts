import { isUtf8 } from "node:buffer";
import { type Channel, clientLimits, type Framing, lines, type Tapped } from "@parlance/mcp/jsonrpc";
import { childChannel } from "@parlance/mcp/node";
import { usageFailure } from "../../shared/failure.js";
import { commandOf, type StartedCommand } from "../../shared/target/started-command.js";
import type { Target } from "../../shared/target/target.js";
import { TextLines } from "../../shared/text-lines.js";

/** Who hears what comes on a raw line, as it comes. */
export interface RawReceiver {
  /** Bytes of the server, before anybody looks at them. */
  bytes(chunk: Uint8Array): void;
  /** What the bytes were. */
  see(tapped: Tapped): void;
  /** A line that a started command wrote to stderr. */
  stderr(text: string): void;
}

/** A connection that sends exactly what it is given. */
export interface RawLine {
  /** Sends one message, as the carrier has it. */
  send(text: string): void | Promise<void>;
  /** Sends bytes and nothing else. */
  write(bytes: Uint8Array): void | Promise<void>;
  /** Ends it; resolves to how the process ended, if there was one. */
  close(): Promise<string | undefined>;
}

/** Opens a line to a target, but for HTTP, which has none. */
export async function openRawLine(target: Target, receiver: RawReceiver): Promise<RawLine> {
  if (target.kind === "command") return commandLine(target, receiver);
  if (target.kind === "module") return messageLine(target.dial(), receiver);
  const { webSocketChannel } = await import("@parlance/mcp/websocket"); // Its package takes a while to load.
  return messageLine(webSocketChannel(target.url, { headers: Object.fromEntries(target.headers) }), receiver);
}

function commandLine(started: StartedCommand, receiver: RawReceiver): RawLine {
  const stderr = new TextLines((text) => receiver.stderr(text));
  const framing = watchedLines((chunk) => receiver.bytes(chunk));
  const child = childChannel(commandOf(started), { framing, onStderr: (chunk) => stderr.push(chunk) });
  listen(child, receiver);
  // Past the queue of the channel, which nothing else may use then.
  const write = (bytes: Uint8Array): void => void child.stdin?.write(bytes);
  return {
    send: (text) => write(Buffer.from(`${text}\n`)),
    write,
    async close() {
      await child.close();
      stderr.end();
      const { pid, exit } = child;
      if (pid === undefined || exit === undefined) return undefined;
      return exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
    },
  };
}

/** The framing of stdio, with somebody who sees the bytes first. */
function watchedLines(see: (chunk: Uint8Array) => void): Framing {
  return {
    ...lines,
    decoder(sink, maxBytes) {
      const decoder = lines.decoder(sink, maxBytes);
      return {
        push(chunk) {
          see(chunk);
          decoder.push(chunk);
        },
        end: () => decoder.end(),
      };
    },
  };
}

/** A carrier whose frames are texts of their own. */
function messageLine(channel: Channel, receiver: RawReceiver): RawLine {
  listen(channel, receiver, (frame) => receiver.bytes(Buffer.from(frame)));
  return {
    send: (text) => channel.send(text),
    write: (bytes) => channel.send(textOf(bytes)),
    close: async () => {
      await channel.close();
      return undefined;
    },
  };
}

/** The text that bytes are. @throws Failure for those that are none: nothing is repaired */
function textOf(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes).toString();
  throw usageFailure("these bytes are no UTF-8, and a message of this target is text", "a command takes any bytes");
}

function listen(channel: Channel, { see }: RawReceiver, first: (frame: string) => void = () => undefined): void {
  channel.open({
    frame(frame) {
      first(frame);
      see({ kind: "received", frame });
    },
    refuse: (refusal) => see({ kind: "refused", refusal }),
    end: (error) => see(error === undefined ? { kind: "ended" } : { kind: "ended", error }),
  });
}

/** The frames that bytes of this side are, as a server on stdio sees them: the last one may lack its end. */
export function sentFrames(bytes: Uint8Array): { readonly frames: readonly Tapped[]; readonly unended: boolean } {
  const frames: Tapped[] = [];
  const sink = {
    frame: (frame: string) => void frames.push({ kind: "sent", frame }),
    refuse: ({ head }: { readonly head: string }) => void frames.push({ kind: "sent", frame: head }),
  };
  const decoder = lines.decoder(sink, clientLimits.frameBytes);
  decoder.push(bytes);
  decoder.end();
  return { frames, unended: bytes.length > 0 && bytes.at(-1) !== newline };
}

const newline = 0x0a;
