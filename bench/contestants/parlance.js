import { answerer, createService } from "@parlance/mcp/jsonrpc";
import { callTool, ping } from "../work.js";

/** @import { Contestant } from "../types.d.ts" */

/**
 * The engine of this project, with its limits and its checks on.
 * @type {Contestant}
 */
export const contestant = {
  kinds: ["call", "batch"],
  open() {
    const answer = answerer(createService().method("ping", ping).method("tools/call", callTool).call);
    return { answer: (text) => /** @type {string | Promise<string>} */ (answer(text)) }; // No frame here is a notification.
  },
};
