import { serveStdio } from "@parlance/mcp/node";
import { createParlance } from "../parlance.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/** @type {ServerContestant} */
export const contestant = {
  kinds: ["call", "stateless"],
  async serve() {
    void serveStdio(createParlance());
  },
};
