import { StdioTransport } from "@tmcp/transport-stdio";
import { createTmcp } from "../tmcp.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/** @type {ServerContestant} */
export const contestant = {
  package: "tmcp",
  kinds: ["call", "stateless"],
  async serve() {
    new StdioTransport(createTmcp()).listen();
  },
};
