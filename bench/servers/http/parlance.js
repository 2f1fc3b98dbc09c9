import { serveHttp } from "@parlance/mcp/node";
import { statelessVersion } from "../../mcp.js";
import { createParlance } from "../parlance.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/** @type {ServerContestant} */
export const contestant = {
  kinds: ["json", "sse", "session"],
  revision: statelessVersion,
  serve: async () => (await serveHttp(createParlance())).port,
};
