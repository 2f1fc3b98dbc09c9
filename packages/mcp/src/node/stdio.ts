import type { Channel } from "../jsonrpc/channel.js";
import { type StreamChannelOptions, streamChannel } from "./stream-channel.js";

/**
 * The channel of a process that its parent speaks to: frames on stdin and stdout. Nothing else may write to stdout;
 * `console.log` does, so use `console.error`.
 */
export function stdioChannel(options: StreamChannelOptions = {}): Channel {
  return streamChannel(process.stdin, process.stdout, { ...options, keepsOutputOpen: true });
}
