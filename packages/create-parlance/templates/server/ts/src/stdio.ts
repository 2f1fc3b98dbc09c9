import { serveStdio } from "@parlance/mcp/node";
import { server } from "./server.ts";

// Serves one host on stdin and stdout. Write logs to stderr: stdout belongs to the protocol.
const serving = await serveStdio(server);
await serving.closed;
