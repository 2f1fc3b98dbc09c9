import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createSdkV2 } from "../sdk-v2.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/** @type {ServerContestant} */
export const contestant = {
  package: "@modelcontextprotocol/server",
  kinds: ["call", "stateless"],
  async serve() {
    serveStdio(createSdkV2);
  },
};
