import { asksForInput } from "../../session/input-required.js";
import type { SessionCall, SessionCalls } from "../session/client-session.js";
import { answerInputRounds } from "./input-rounds.js";
import type { NotificationEmitter } from "./notification-emitter.js";
import { RetryableCall, type RetryableCallHost } from "./retryable-call.js";
import { completeUrlElicitation, requiresUrlElicitation } from "./url-elicitation-required.js";

/** Calls with support for input requests, in the way of the revision. */
export function inputCall(
  opened: Pick<SessionCalls, "call" | "revision">,
  host: RetryableCallHost & { readonly emitter: NotificationEmitter },
): SessionCall {
  return async (method, params = {}, options = {}) => {
    const call = new RetryableCall(opened, host, { method, params, options });
    try {
      const first = await opened.call(method, params, options);
      const asks = opened.revision.era === "stateless" && asksForInput(first);
      return asks ? await answerInputRounds(call, first) : first;
    } catch (error) {
      if (!requiresUrlElicitation(opened, error)) throw error;
      return completeUrlElicitation(call, error, host.emitter);
    }
  };
}
