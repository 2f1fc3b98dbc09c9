import { serve } from "@hono/node-server";
import { httpHandler } from "@parlance/mcp/http";
import { Hono } from "hono";
import { createSample } from "./server.js";

const mcp = httpHandler(createSample(), { allowedHosts: ["contacts.example.com"] });

const app = new Hono();
app.all("/mcp", ({ req }) => mcp(req.raw));

const listener = serve(
  { fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) },
  ({ port }) => console.log(`http://127.0.0.1:${port}/mcp`),
);

process.once("SIGTERM", async () => {
  await mcp.drain();
  listener.close();
});
