// A server on stdio, as a user would write it, for a peer that sends anything at all. It says how much memory it holds.
import { setImmediate } from "node:timers/promises";
import { createService, openConnection, RpcError } from "@parlance/mcp/jsonrpc";
import { stdioChannel } from "@parlance/mcp/node";

const service = createService()
  .method("echo", (params) => params)
  .method("later", async (params) => {
    await setImmediate();
    return params;
  })
  .method("fail", () => {
    throw new Error("a fault in a handler");
  })
  .method("refuse", (params) => {
    throw new RpcError(1, "refused", params);
  })
  .method("held", () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  });

const frameBytes = Number(process.argv[2]);
openConnection(stdioChannel({ frameBytes }), {
  handle: service.call,
  cancellation: { method: "$/cancelRequest", idMember: "id" },
  limits: { frameBytes, oversizedPerMinute: Number.POSITIVE_INFINITY },
  // Faults are asked for by the thousand: the default would write each to stderr.
  report: () => undefined,
});
