import { httpHandler } from "@parlance/mcp/http";
import { webSocketChannel } from "@parlance/mcp/jsonrpc";
import { serveChannel } from "@parlance/mcp/server";
import { node } from "../cases/node.js";
import { run } from "../run.js";
import { suite } from "../suite.js";

/** @type {import("../run.js").Platform} */
const platform = {
  version: Deno.version.deno,
  command: [Deno.execPath(), "run", "--allow-all", "--no-lock", "--quiet"],
  async listen(server) {
    const handler = httpHandler(server, { legacySse: true });
    const { url, shutdown } = await serve(handler);
    const close = async () => {
      await handler.drain();
      await shutdown();
    };
    return { url: new URL("/mcp", url).href, close };
  },
  async webSocket(server) {
    const { url, shutdown } = await serve(async (request) => {
      const { socket, response } = Deno.upgradeWebSocket(request, { protocol: "mcp" });
      serveChannel(server, webSocketChannel(socket));
      return response;
    });
    return { target: () => url.replace("http", "ws"), close: shutdown };
  },
};

/**
 * @param {(request: Request) => Promise<Response>} handler
 * @returns {Promise<{ url: string, shutdown: () => Promise<void> }>}
 */
function serve(handler) {
  return new Promise((resolve) => {
    const onListen = (/** @type {{ port: number }} */ { port }) =>
      resolve({ url: `http://127.0.0.1:${port}/`, shutdown: () => listener.shutdown() });
    const listener = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, handler);
  });
}

for await (const line of run([...suite, ...node], platform, Deno.args)) console.log(line);
