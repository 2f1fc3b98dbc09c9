import { serveHttp } from "@parlance/mcp/node";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { node } from "../cases/node.js";
import { run } from "../run.js";
import { suite } from "../suite.js";

/** @type {import("../run.js").Platform} */
const platform = {
  version: process.versions.node,
  command: [process.execPath],
  async listen(server) {
    const http = await serveHttp(server, { legacySse: true });
    return { url: http.url, close: () => http.close() };
  },
  async webSocket(server) {
    const listener = await serveWebSocket(server);
    return { target: () => listener.url, close: () => listener.close() };
  },
};

for await (const line of run([...suite, ...node], platform, process.argv.slice(2))) console.log(line);
