import { checkMembers, type MembersOf } from "../base/check-members.js";
import type { Channel } from "../jsonrpc/channel.js";
import { watchParent } from "./process/parent-watch.js";
import { StreamChannel, type StreamChannelOptions, streamMembers } from "./stream-channel.js";

export interface StdioChannelOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /**
   * End the channel when the parent process has exited, even if another process still holds its end of the pipe. Turn
   * it off for a server that should outlive its parent. Default: true.
   */
  readonly parentWatch?: boolean;
}

const stdioMembers: MembersOf<StdioChannelOptions> = { ...streamMembers, parentWatch: [] };

/**
 * The channel of a stdio server: frames on stdin and stdout. Nothing else may write to stdout: use `console.error`
 * instead of `console.log`.
 *
 * @example
 * await using connection = openConnection(stdioChannel(), { handle: service.call });
 */
export function stdioChannel(options: StdioChannelOptions = {}): Channel {
  checkMembers("stdioChannel", options, stdioMembers);
  return new StdioChannel(options);
}

class StdioChannel extends StreamChannel {
  readonly #stopWatch: () => void;

  constructor({ parentWatch = true, ...options }: StdioChannelOptions) {
    super(process.stdin, process.stdout, { ...options, keepsOutputOpen: true });
    // Destroying stdin ends the channel as its end does, so running calls may finish.
    this.#stopWatch = parentWatch ? watchParent(() => process.stdin.destroy(), options) : () => undefined;
  }

  override close(): Promise<void> {
    this.#stopWatch();
    return super.close();
  }
}
