import { nodeHandler } from "@parlance/mcp/node";
import fastify from "fastify";
import { createSample } from "./server.js";

const mcp = nodeHandler(createSample(), { allowedHosts: ["contacts.example.com"] });

const app = fastify({ bodyLimit: 4 * 1024 * 1024 });
app.all("/mcp", (request, reply) => {
  reply.hijack();
  // Fastify has read the body already, and keeps it to itself.
  mcp(Object.assign(request.raw, { body: request.body }), reply.raw);
});

await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
console.log(`${app.listeningOrigin}/mcp`);

process.once("SIGTERM", async () => {
  await mcp.drain();
  await app.close();
});
