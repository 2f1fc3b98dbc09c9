import { answerRounds } from "./answer-rounds.js";
import type { Heard } from "./heard.js";
import { asksForInput } from "./input-required.js";
import type { Opened, OpenedCall } from "./opened.js";
import { UnhurriedCall, type UnhurriedHost } from "./unhurried-call.js";
import { visitFirst, wantsVisits } from "./visit-first.js";

/** Calls whose servers may ask before they answer, in whichever way the revision has for that. */
export function answeringCall(
  opened: Pick<Opened, "call" | "revision">,
  host: UnhurriedHost & { readonly heard: Heard },
): OpenedCall {
  return async (method, params = {}, options = {}) => {
    const call = new UnhurriedCall(opened, host, { method, params, options });
    try {
      const first = await opened.call(method, params, options);
      const asks = opened.revision.era === "stateless" && asksForInput(first);
      return asks ? await answerRounds(call, first) : first;
    } catch (error) {
      if (!wantsVisits(opened, error)) throw error;
      return visitFirst(call, error, host.heard);
    }
  };
}
