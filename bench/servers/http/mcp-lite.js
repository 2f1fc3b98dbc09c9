import { createAdaptorServer } from "@hono/node-server";
import { InMemorySessionAdapter, StreamableHttpTransport } from "mcp-lite";
import { earlierHandshake } from "../../mcp.js";
import { createMcpLite } from "../mcp-lite.js";
import { listen } from "./node-http.js";

/** @import { Server } from "node:http" */
/** @import { ServerContestant } from "../../types.d.ts" */

/** @type {ServerContestant} */
export const contestant = {
  package: "mcp-lite",
  revision: earlierHandshake,
  kinds: ["json", "sse", "session"],
  serve(kind) {
    const sessions = { sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }) };
    const transport = new StreamableHttpTransport(kind === "session" ? sessions : {});
    const handle = transport.bind(createMcpLite());
    const fetch = (/** @type {Request} */ request) => handle(request);
    return listen(/** @type {Server} */ (createAdaptorServer({ fetch }))); // Without options it is of `node:http`.
  },
};
