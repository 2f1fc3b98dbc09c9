import { serveHttp } from "@parlance/mcp/node";
import { server } from "./server.ts";

// Serves clients of this machine over HTTP. Others need `host` and `auth`: see the page "Deploy" of the documentation.
const { url, drain } = await serveHttp(server, { port: Number(process.env.PORT ?? 3000) });
console.log(`my-project listens on ${url}`);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void drain(5_000));
