import type { Clock } from "../../base/clock.js";
import { methods } from "../../protocol/methods.js";
import type { NotificationEmitter } from "../input/notification-emitter.js";
import type { ClientSession } from "../session/client-session.js";
import type { ReconnectingSession } from "../session/reconnecting-session.js";
import type { Follow } from "./follow.js";
import { followByListening } from "./follow-listening.js";
import { followBySubscribing } from "./follow-subscribing.js";

/** What following needs besides the conversation. */
export interface FollowHost {
  readonly emitter: NotificationEmitter;
  readonly clock: Clock;
  /** Milliseconds to wait for the server to agree. */
  readonly timeout: number;
}

/** Follows in the way of the revision that is spoken. */
export function followByEra(conversation: ReconnectingSession, { emitter, clock, timeout }: FollowHost): Follow {
  if (conversation.revision.requests.client.has(methods.listen)) {
    return followByListening({ call: conversation.call, emitter, clock, timeout });
  }
  // What a server has been asked for in a handshake's conversation, it forgets with it.
  const follows = new WeakMap<ClientSession, Follow>();
  return (filter, options, tell) =>
    conversation.act((opened) => {
      const follow = follows.get(opened) ?? followBySubscribing(opened, emitter);
      follows.set(opened, follow);
      return follow(filter, options, tell);
    });
}
