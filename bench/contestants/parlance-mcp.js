import { serveChannel } from "@parlance/mcp/server";
import { initialize, initialized, newestHandshake } from "../mcp.js";
import { createParlance } from "../servers/parlance.js";

/** @import { Contestant } from "../types.d.ts" */

/**
 * A whole server of this project on a channel with nothing behind it: what is sent is the answer to the frame that was
 * received last, because none of the handlers waits.
 * @type {Contestant}
 */
export const contestant = {
  kinds: ["call", "stateless"],
  open(kind) {
    /** @type {(text: string) => void} */
    let receive = () => undefined;
    let sent = "";
    serveChannel(createParlance(), {
      open: (receiver) => {
        receive = (text) => receiver.frame(text);
      },
      send: (frame) => {
        sent = frame;
      },
      close: () => Promise.resolve(),
    });
    if (kind === "call") {
      receive(JSON.stringify(initialize(newestHandshake)));
      receive(JSON.stringify(initialized));
    }
    return {
      answer(text) {
        receive(text);
        return sent;
      },
    };
  },
};
