import { createAdaptorServer } from "@hono/node-server";
import { HttpTransport } from "@tmcp/transport-http";
import { statelessVersion } from "../../mcp.js";
import { createTmcp } from "../tmcp.js";
import { listen } from "./node-http.js";

/** @import { Server } from "node:http" */
/** @import { ServerContestant } from "../../types.d.ts" */

/**
 * It answers every call with an event stream.
 * @type {ServerContestant}
 */
export const contestant = {
  package: "tmcp",
  kinds: ["sse", "session"],
  revision: statelessVersion,
  serve() {
    const transport = new HttpTransport(createTmcp(), { path: "/mcp" });
    const fetch = async (/** @type {Request} */ request) =>
      (await transport.respond(request)) ?? new Response(null, { status: 404 });
    return listen(/** @type {Server} */ (createAdaptorServer({ fetch }))); // Without options it is of `node:http`.
  },
};
