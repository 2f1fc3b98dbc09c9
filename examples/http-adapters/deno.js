import process from "node:process";
import { httpHandler } from "@parlance/mcp/http";
import { createSample } from "./server.js";

const mcp = httpHandler(createSample(), { allowedHosts: ["contacts.example.com"] });

/** @param {Request} request */
function route(request) {
  const { pathname } = new URL(request.url);
  return pathname === "/mcp" ? mcp(request) : Promise.resolve(new Response(null, { status: 404 }));
}

const listener = Deno.serve(
  {
    hostname: "127.0.0.1",
    port: Number(process.env.PORT ?? 3000),
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/mcp`),
  },
  route,
);

process.once("SIGTERM", async () => {
  await mcp.drain();
  await listener.shutdown();
});
