import { createServer, tool } from "@parlance/mcp/server";
import * as z from "zod";

// A server to try the client with. The tests use it too.

const weather = tool(
  "weather",
  {
    description: "The weather in a city",
    inputSchema: z.object({ city: z.string() }),
    annotations: { readOnlyHint: true },
  },
  ({ city }) => `It is sunny in ${city}.`,
);

const book = tool(
  "book",
  {
    description: "Book a table: the server asks for the name",
    inputSchema: z.object({ seats: z.int().min(1).max(8) }),
  },
  async ({ seats }, ctx) => {
    const { content } = await ctx.elicit("Who is the guest?", z.object({ name: z.string(), window: z.boolean() }));
    if (content === undefined) return "Nothing was booked.";
    return `A table for ${seats}${content.window ? " by the window" : ""} is booked for ${content.name}.`;
  },
);

export const server = createServer({ name: "example", version: "1.0.0", tools: [weather, book] });
