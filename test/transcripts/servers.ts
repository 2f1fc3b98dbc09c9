import { createServer, type Server, ToolError } from "@parlance/mcp/server";
import * as z from "zod";

/** The servers of the transcripts, by the name that a file gives. */
export const servers: Readonly<Record<string, () => Server>> = {
  greeter() {
    const server = createServer({ name: "greeter", version: "1.0.0", instructions: "Greet people" });
    server.tool(
      "greet",
      {
        description: "Greet somebody",
        inputSchema: z.object({ name: z.string(), times: z.number().int().default(1) }),
      },
      ({ name, times }) => Array.from({ length: times }, () => `Hello, ${name}.`).join(" "),
    );
    server.tool("refuse", { description: "Fail in words" }, () => {
      throw new ToolError("I would rather not");
    });
    return server;
  },
  adder() {
    const server = createServer({ name: "adder", version: "1.0.0" });
    const numbers = z.object({ a: z.number(), b: z.number() });
    server.tool("add", { inputSchema: numbers, outputSchema: z.object({ sum: z.number() }) }, ({ a, b }) => ({
      sum: a + b,
    }));
    return server;
  },
  counter() {
    const server = createServer({ name: "counter", version: "1.0.0" });
    server.tool("count", { inputSchema: z.object({ to: z.number() }) }, ({ to }, ctx) => {
      for (let at = 1; at <= to; at += 1) ctx.progress(at, to, `at ${at}`);
      ctx.log("warning", { counted: to }, "counter");
      return `counted to ${to}`;
    });
    return server;
  },
};
