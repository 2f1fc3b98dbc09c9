import { serveStdio } from "@parlance/mcp/node";
import { createSample } from "../server.js";

const server = createSample();
server.method("sample/pid", () => ({ pid: process.pid }));
server.method("sample/exit", () => process.exit(3));
await serveStdio(server);
