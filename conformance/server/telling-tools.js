import { setTimeout as wait } from "node:timers/promises";

/** @import { Server } from "@parlance/mcp/server" */

/** Between two notifications, so that each arrives by itself. */
const pause = 50;

/**
 * Tools that tell something while they run.
 *
 * @param {Server} server
 */
export function addTellingTools(server) {
  server.tool("test_tool_with_logging", { description: "Logs three times" }, async (_args, context) => {
    context.log("info", "Tool execution started");
    await wait(pause);
    context.log("info", "Tool processing data");
    await wait(pause);
    context.log("info", "Tool execution completed");
    return "Logged three times";
  });
  server.tool("test_tool_with_progress", { description: "Tells its progress three times" }, async (_args, context) => {
    for (const progress of [0, 50, 100]) {
      context.progress(progress, 100);
      await wait(pause);
    }
    return "All done";
  });
  server.tool(
    "test_reconnection",
    { description: "Lets you go, and answers when you are back" },
    async (_args, context) => {
      context.release(pause);
      await wait(2 * pause);
      return "Welcome back";
    },
  );
  server.tool("test_logging_tool", { description: "Logs, to whoever wants to hear it" }, (_args, context) => {
    context.log("info", "Something to log");
    return "Logged";
  });
}
