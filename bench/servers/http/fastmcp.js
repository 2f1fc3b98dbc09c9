import { newestHandshake } from "../../mcp.js";
import { createFastMcp } from "../fastmcp.js";
import { freePort } from "./node-http.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/** @type {ServerContestant} */
export const contestant = {
  package: "fastmcp",
  revision: newestHandshake,
  kinds: ["json", "sse", "session"],
  async serve(kind) {
    const port = await freePort();
    const httpStream = { port, stateless: kind !== "session", enableJsonResponse: kind !== "sse" };
    await createFastMcp().start({ transportType: "httpStream", httpStream });
    return port;
  },
};
