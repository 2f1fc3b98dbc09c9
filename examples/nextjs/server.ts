import { createServer } from "@parlance/mcp/server";

export const server = createServer({ name: "clock", version: "1.0.0" });
server.tool("hour", { description: "The hour, after a while" }, async (_args, ctx) => {
  await ctx.progress(0, 1, "looking");
  return "It is seven";
});
