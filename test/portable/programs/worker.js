import { webSocketChannel } from "@parlance/mcp/jsonrpc";
import { serveChannel } from "@parlance/mcp/server";
import { run } from "../run.js";
import { suite } from "../suite.js";

/** @type {import("../run.js").Platform} */
const platform = {
  version: navigator.userAgent,
  listen() {
    throw new Error("A worker cannot listen");
  },
  async webSocket(server) {
    return {
      target() {
        const { 0: near, 1: far } = new WebSocketPair();
        near.accept();
        far.accept();
        serveChannel(server, webSocketChannel(far));
        return near;
      },
    };
  },
};

export default {
  /**
   * Runs the suite, and sends its lines.
   *
   * @param {Request} request
   */
  async fetch(request) {
    const lacks = new URL(request.url).searchParams.getAll("lacks");
    const { readable, writable } = new TransformStream();
    void write(writable, lacks);
    return new Response(readable);
  },
};

/**
 * @param {WritableStream} writable
 * @param {readonly string[]} lacks
 */
async function write(writable, lacks) {
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  for await (const line of run(suite, platform, lacks)) await writer.write(encoder.encode(`${line}\n`));
  await writer.close();
}
