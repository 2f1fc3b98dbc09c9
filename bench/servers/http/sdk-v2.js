import { createServer } from "node:http";
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { statelessVersion } from "../../mcp.js";
import { createSdkV2 } from "../sdk-v2.js";
import { listen } from "./node-http.js";
import { createSessionServer } from "./sessions.js";

/** @import { ServerContestant } from "../../types.d.ts" */

/**
 * As its documentation has it for plain `node:http`: a server for every request of the stateless revision, behind the guards
 * that its frameworks put there, or a transport for every session.
 * @type {ServerContestant}
 */
export const contestant = {
  package: "@modelcontextprotocol/server",
  kinds: ["json", "sse", "session"],
  revision: statelessVersion,
  serve: (kind) => listen(kind === "session" ? inSessions() : stateless()),
};

function stateless() {
  const handle = toNodeHandler(createMcpHandler(createSdkV2));
  const hasLocalHost = localhostHostValidation();
  const hasLocalOrigin = localhostOriginValidation();
  return createServer((/** @type {any} */ request, response) => {
    // Its types know no `undefined` where Node has one.
    if (hasLocalHost(request, response) && hasLocalOrigin(request, response)) void handle(request, response);
  });
}

function inSessions() {
  return createSessionServer(async (options) => {
    const transport = new NodeStreamableHTTPServerTransport({ ...options, enableJsonResponse: true });
    await createSdkV2().connect(transport);
    return transport;
  });
}
