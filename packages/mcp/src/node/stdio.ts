import { checkMembers, type MembersOf } from "../base/members.js";
import type { Channel } from "../jsonrpc/channel.js";
import { watchParent } from "./parent-watch.js";
import { StreamChannel, type StreamChannelOptions, streamMembers } from "./stream-channel.js";

export interface StdioChannelOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /**
   * End as at the end of stdin when the process that started this one is gone, even if another process holds its end of the
   * pipe. Turn it off for a server that is meant to outlive the process that starts it. Default: true.
   */
  readonly parentWatch?: boolean;
}

const stdioMembers: MembersOf<StdioChannelOptions> = { ...streamMembers, parentWatch: [] };

/**
 * The channel of a process that its parent speaks to: frames on stdin and stdout. Nothing else may write to stdout;
 * `console.log` does, so use `console.error`.
 */
export function stdioChannel(options: StdioChannelOptions = {}): Channel {
  checkMembers("stdioChannel", options, stdioMembers);
  return new StdioChannel(options);
}

class StdioChannel extends StreamChannel {
  readonly #stopWatch: () => void;

  constructor({ parentWatch = true, ...options }: StdioChannelOptions) {
    super(process.stdin, process.stdout, { ...options, keepsOutputOpen: true });
    // A destroyed input ends the conversation as an ended one does: calls that run may finish.
    this.#stopWatch = parentWatch ? watchParent(() => process.stdin.destroy(), options) : () => undefined;
  }

  override close(): Promise<void> {
    this.#stopWatch();
    return super.close();
  }
}
