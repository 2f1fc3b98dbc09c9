import { createServer } from "node:http";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { newestHandshake } from "../../mcp.js";
import { createSdkV1 } from "../sdk-v1.js";
import { listen, readJson } from "./node-http.js";
import { createSessionServer } from "./sessions.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/**
 * As its examples have it: a server and a transport for every request, or for every session. They are on Express; here is
 * less around them.
 * @type {ServerContestant}
 */
export const contestant = {
  package: "@modelcontextprotocol/sdk",
  revision: newestHandshake,
  kinds: ["json", "sse", "session"],
  serve: (kind) => listen(kind === "session" ? inSessions() : sessionless(kind === "json")),
};

/** @param {boolean} enableJsonResponse */
function sessionless(enableJsonResponse) {
  return createServer(async (request, response) => {
    const body = await readJson(request);
    const server = createSdkV1();
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse });
    response.on("close", () => {
      void transport.close();
      void server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(request, response, body);
  });
}

function inSessions() {
  return createSessionServer(async (options) => {
    const transport = new StreamableHTTPServerTransport({ ...options, enableJsonResponse: true });
    await createSdkV1().connect(transport);
    return transport;
  });
}
