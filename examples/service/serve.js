import { createServer } from "node:http";
import { openConnection } from "@parlance/mcp/jsonrpc";
import { nodeRpcHandler, stdioChannel } from "@parlance/mcp/node";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { cancellation, framing, protocol, way } from "./agreement.js";
import { createExampleService } from "./service.js";

/** @import { Channel } from "@parlance/mcp/jsonrpc" */

// Serves until stdin ends. On stdin and stdout it serves whoever started this process: stdout belongs to the messages then,
// and words for people go to stderr. On the network it serves everybody on this machine, and says on stdout where.

const { call } = createExampleService();

/** @param {Channel} channel */
const serve = (channel) => openConnection(channel, { handle: call, cancellation });

if (way === "websocket") {
  const listener = await serveWebSocket(serve, { protocol, path: "/" });
  console.log(listener.url);
  process.stdin.resume().once("end", () => listener.close());
} else if (way === "http") {
  const server = createServer(nodeRpcHandler(call)).listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}/`);
  });
  process.stdin.resume().once("end", () => server.close().closeAllConnections());
} else {
  serve(stdioChannel({ framing }));
}
