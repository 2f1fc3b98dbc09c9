import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createSdkV1 } from "../sdk-v1.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/** @type {ServerContestant} */
export const contestant = {
  package: "@modelcontextprotocol/sdk",
  kinds: ["call"],
  async serve() {
    await createSdkV1().connect(new StdioServerTransport());
  },
};
