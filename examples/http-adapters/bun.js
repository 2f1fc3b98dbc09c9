import { httpHandler } from "@parlance/mcp/http";
import { createSample } from "./server.js";

const mcp = httpHandler(createSample(), { allowedHosts: ["contacts.example.com"] });

const listener = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? 3000),
  // Seconds; the default is less than what lies between two signs of life on a stream.
  idleTimeout: 60,
  routes: { "/mcp": mcp },
});
console.log(`${listener.url.origin}/mcp`);

process.once("SIGTERM", async () => {
  await mcp.drain();
  await listener.stop();
});
