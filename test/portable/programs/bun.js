import { httpHandler } from "@parlance/mcp/http";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { node } from "../cases/node.js";
import { run } from "../run.js";
import { suite } from "../suite.js";

/** @type {import("../run.js").Platform} */
const platform = {
  version: Bun.version,
  command: [process.execPath],
  async listen(server) {
    const fetch = httpHandler(server, { legacySse: true });
    const listener = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 60, fetch });
    const close = async () => {
      await fetch.drain();
      await listener.stop();
    };
    return { url: new URL("/mcp", listener.url).href, close };
  },
  async webSocket(server) {
    const listener = await serveWebSocket(server);
    return { target: () => listener.url, close: () => listener.close() };
  },
};

for await (const line of run([...suite, ...node], platform, process.argv.slice(2))) console.log(line);
