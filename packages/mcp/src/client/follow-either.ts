import type { Clock } from "../base/clock.js";
import type { Heard } from "../lifecycle/heard.js";
import type { LastingConversation } from "../lifecycle/lasting.js";
import type { CarriedConversation } from "../lifecycle/opened.js";
import { methods } from "../protocol/methods.js";
import type { Follow } from "./follow.js";
import { followByListening } from "./follow-listening.js";
import { followBySubscribing } from "./follow-subscribing.js";

/** What following needs besides the conversation. */
export interface FollowHost {
  readonly heard: Heard;
  readonly clock: Clock;
  /** Milliseconds to wait for the server to agree. */
  readonly timeout: number;
}

/** Follows in the way of the revision that is spoken. */
export function followWith(conversation: LastingConversation, { heard, clock, timeout }: FollowHost): Follow {
  if (conversation.revision.requests.client.has(methods.listen)) {
    return followByListening({ call: conversation.call, heard, clock, timeout });
  }
  // What a server has been asked for in a handshake's conversation, it forgets with it.
  const follows = new WeakMap<CarriedConversation, Follow>();
  return (filter, options, tell) =>
    conversation.act((opened) => {
      const follow = follows.get(opened) ?? followBySubscribing(opened, heard);
      follows.set(opened, follow);
      return follow(filter, options, tell);
    });
}
