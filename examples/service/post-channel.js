import { cancellation } from "./agreement.js";

/** @import { Channel, ChannelReceiver } from "@parlance/mcp/jsonrpc" */

/**
 * A channel on which every frame is a POST, and what comes back is its answer.
 *
 * @param {string} url
 * @returns {Channel}
 */
export function postChannel(url) {
  /** @type {ChannelReceiver | undefined} */
  let receiver;
  /** One POST after the other: nothing else keeps them in order. */
  let last = Promise.resolve();
  /** The requests that are posted, by their ids. @type {Map<unknown, AbortController>} */
  const posted = new Map();

  /** @param {string} body @param {AbortSignal} signal */
  const post = async (body, signal) => {
    const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body, signal });
    const text = await answer.text();
    if (text !== "") receiver?.frame(text);
  };

  return {
    open(given) {
      receiver = given;
    },
    send(frame) {
      const { id, method, params } = JSON.parse(frame);
      if (method === cancellation.method) {
        posted.get(params[cancellation.idMember])?.abort(); // No response is needed: a caller that hangs up reads none.
        return;
      }
      const controller = new AbortController();
      posted.set(id, controller);
      last = last
        .then(() => post(frame, controller.signal))
        .catch((error) => controller.signal.aborted || receiver?.end(error))
        .then(() => void posted.delete(id));
    },
    async close() {
      await last;
    },
  };
}
