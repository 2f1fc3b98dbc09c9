// The server that the suite calls. Prints its URL; the port is the first argument, or any that is free.
import { serveHttp } from "@parlance/mcp/node";
import { fixtureServer } from "./server/fixture-server.js";

const { url } = await serveHttp(fixtureServer(), { port: Number(process.argv[2] ?? 0) });
console.log(url);
