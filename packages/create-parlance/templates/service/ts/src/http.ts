import { createServer } from "node:http";
import { nodeRpcHandler } from "@parlance/mcp/node";
import { service } from "./service.ts";

// Serves clients of this machine over HTTP: one POST is a message or a batch.
const port = Number(process.env.PORT ?? 3000);
const listener = createServer(nodeRpcHandler(service.call)).listen(port, "127.0.0.1", () => {
  const address = listener.address();
  if (typeof address === "object") console.log(`my-project listens on http://localhost:${address?.port}/`);
});
listener.on("error", ({ message }) => {
  console.error(`${message}: choose another port with PORT`);
  process.exitCode = 1;
});

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => listener.close().closeIdleConnections());
