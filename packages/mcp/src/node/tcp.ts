import { connect, type Socket } from "node:net";
import { checkMembers, type MembersOf } from "../base/check-members.js";
import { type Clock, longestTimer } from "../base/clock.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { steadyClock } from "../jsonrpc/steady-clock.js";
import { defaultHost, describeAddress, requireAddress, type SocketAddress } from "./listen.js";
import { StreamChannel, type StreamChannelOptions, streamMembers } from "./stream-channel.js";
import { closeWhenVanished } from "./vanished-peers.js";

export interface TcpChannelOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /** The time limit in milliseconds for connecting. Default: 10,000. */
  readonly connectTimeout?: number;
}

const { keepsOutputOpen, ...socketMembers } = streamMembers;
const tcpMembers: MembersOf<TcpChannelOptions> = { ...socketMembers, connectTimeout: ["number", "openTimeout"] };

/** Milliseconds of silence before TCP keep-alive probes the peer. */
const keepAliveDelay = 15_000;

/**
 * A channel to a TCP port or a Unix socket. Messages sent before the connection is established are queued. If it fails,
 * the channel ends with an error.
 *
 * @example
 * await using client = await connect(() => tcpChannel({ port: 7007 }));
 *
 * @throws TypeError for what is no address; RangeError for an invalid port
 */
export function tcpChannel(address: SocketAddress, options: TcpChannelOptions = {}): Channel {
  requireAddress("tcpChannel", address);
  checkMembers("tcpChannel", options, tcpMembers);
  return new DialledChannel(address, options);
}

class DialledChannel extends StreamChannel {
  readonly #to: string;
  #connected = false;

  constructor(address: SocketAddress, options: TcpChannelOptions) {
    const { connectTimeout = 10_000 } = options;
    const clock = steadyClock(options.clock);
    const socket = dial(address, connectTimeout, clock);
    super(socket, socket, { frameBytes: clientLimits.frameBytes, ...options, clock });
    this.#to = describeAddress(address);
    socket.once("connect", () => {
      this.#connected = true;
    });
  }

  override open(receiver: ChannelReceiver): void {
    super.open({
      frame: (text) => receiver.frame(text),
      refuse: (refusal) => receiver.refuse(refusal),
      end: (error) => receiver.end(error && this.#explained(error)),
    });
  }

  #explained(error: Error): Error {
    if (this.#connected) return error;
    // If a name has several addresses and all fail, the error has a code but no message.
    const { message, code }: NodeJS.ErrnoException = error;
    return new Error(`no connection to ${this.#to}: ${message || code}`, { cause: error });
  }
}

function dial(address: SocketAddress, timeout: number, clock: Clock): Socket {
  const socket = connect({ host: defaultHost, ...address, allowHalfOpen: true });
  tune(socket);
  const timer = clock.setTimer(
    () => socket.destroy(new Error(`it was not accepted within ${timeout} ms`)),
    Math.min(timeout, longestTimer),
  );
  const decided = (): void => clock.clearTimer(timer);
  socket.once("connect", decided).once("close", decided);
  return socket;
}

/** Sends each message without delay, and detects a vanished peer within half a minute. */
export function tune(socket: Socket): void {
  socket.setNoDelay(true).setKeepAlive(true, keepAliveDelay);
  closeWhenVanished(socket);
}
