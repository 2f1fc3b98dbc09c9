import { JSONRPCServer } from "json-rpc-2.0";
import { callTool, ping } from "../work.js";

/** @import { Contestant } from "../types.d.ts" */

/** @type {Contestant} */
export const contestant = {
  package: "json-rpc-2.0",
  kinds: ["call", "batch"],
  open() {
    const server = new JSONRPCServer();
    server.addMethod("ping", ping);
    server.addMethod("tools/call", callTool);
    return { answer: async (text) => JSON.stringify(await server.receiveJSON(text)) };
  },
};
