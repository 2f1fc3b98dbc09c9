import { ToolError } from "@parlance/mcp/server";
import * as z from "zod";

/** @import { Server } from "@parlance/mcp/server" */

/** The schemas are here for a client as well: they are the types of its calls. */
export const add = {
  description: "Adds two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
};

const divide = {
  description: "Divides one number by another",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
};

/** @param {Server} server */
export function addSums(server) {
  server.tool("add", add, ({ a, b }) => ({ sum: a + b }));
  server.tool("divide", divide, ({ a, b }) => {
    if (b === 0) throw new ToolError("Nothing can be divided by 0: choose another b");
    return String(a / b);
  });
}
