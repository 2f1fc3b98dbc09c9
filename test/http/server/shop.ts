import { createServer, type Server } from "@parlance/mcp/server";

/** A server with one of everything that a rule of HTTP is about. `onRun` hears of each tool that has run. */
export function shop(onRun: (tool: string) => void = () => undefined): Server {
  const server = createServer({ name: "shop", version: "1" });
  const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  server.tool("echo", { inputSchema: text }, ({ text: said }) => {
    onRun("echo");
    return String(said);
  });
  const routed = {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      count: { type: "integer", "x-mcp-header": "Count" },
    },
  } as const;
  server.tool("route", { inputSchema: routed }, () => {
    onRun("route");
    return "routed";
  });
  server.tool("ask", {}, async (_args, context) => {
    const answer = await context.elicit("Name?", text);
    return answer.action === "accept" ? String(answer.content.text) : answer.action;
  });
  server.tool("steps", {}, (_args, context) => {
    for (const step of [1, 2, 3]) void context.progress(step, 3);
    return "done";
  });
  server.tool(
    "until-cancelled",
    {},
    (_args, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("cancelled"))),
  );
  server.resource("a:1", {}, () => "one");
  return server;
}
