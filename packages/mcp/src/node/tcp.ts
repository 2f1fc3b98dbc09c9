import { connect, type Socket } from "node:net";
import { type Clock, systemClock } from "../base/clock.js";
import { checkMembers, type MembersOf } from "../base/members.js";
import { longestTimer } from "../base/settles-within.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { defaultHost, describeAddress, type SocketAddress } from "./socket-address.js";
import { StreamChannel, type StreamChannelOptions, streamMembers } from "./stream-channel.js";
import { closeWhenVanished } from "./vanished-peers.js";

export interface TcpChannelOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /** Milliseconds in which the other side must have accepted. Default: 10,000. */
  readonly connectTimeout?: number;
}

const { keepsOutputOpen, ...socketMembers } = streamMembers;
const tcpMembers: MembersOf<TcpChannelOptions> = { ...socketMembers, connectTimeout: ["openTimeout"] };

/** Milliseconds of silence after which the system asks whether the other machine is still there. */
const keepAliveDelay = 15_000;

/**
 * A channel to whoever listens at a TCP port or a Unix socket. What is sent before there is a connection waits for it; one
 * that does not come about ends the channel with an error that says why.
 *
 * @example
 * await using client = await connect(() => tcpChannel({ port: 7007 }));
 *
 * @throws RangeError for a port that is none
 */
export function tcpChannel(address: SocketAddress, options: TcpChannelOptions = {}): Channel {
  checkMembers("tcpChannel", options, tcpMembers);
  return new DialledChannel(address, options);
}

class DialledChannel extends StreamChannel {
  readonly #to: string;
  #connected = false;

  constructor(address: SocketAddress, options: TcpChannelOptions) {
    const { connectTimeout = 10_000, clock = systemClock } = options;
    const socket = dial(address, connectTimeout, clock);
    super(socket, socket, { frameBytes: clientLimits.frameBytes, ...options });
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
    // Where a name has several addresses and none answers, the error has a code and no message.
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

/** A message goes out at once, and a machine that has vanished is noticed within half a minute. */
export function tune(socket: Socket): void {
  socket.setNoDelay(true).setKeepAlive(true, keepAliveDelay);
  closeWhenVanished(socket);
}
