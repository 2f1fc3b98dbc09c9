import { createFastMcp } from "../fastmcp.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/** @type {ServerContestant} */
export const contestant = {
  package: "fastmcp",
  kinds: ["call"],
  async serve() {
    await createFastMcp().start({ transportType: "stdio" });
  },
};
