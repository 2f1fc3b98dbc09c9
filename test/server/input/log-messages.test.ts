import { connect } from "@parlance/mcp/client";
import { createServer, type Server, ToolError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";

const form = z.object({ name: z.string() });

/** The log messages that a client receives from a tool, and the content of its result. The client fills in its forms with these names. */
async function logged(server: Server, revision: string, ...names: readonly string[]): Promise<readonly unknown[]> {
  const told: unknown[] = [];
  let asked = 0;
  await using client = await connect(server, {
    revision,
    handlers: {
      elicitation: () => {
        asked += 1;
        return { action: "accept", content: { name: names[asked - 1] ?? "" } };
      },
    },
    notifications: { "notifications/message": ({ data }) => void told.push(data) },
  });
  await client.setLogLevel("debug");
  const result = await client.tools.call("t");
  return [...told, result.content];
}

const text = (words: string): readonly object[] => [{ type: "text", text: words }];

describe.each(["2025-06-18", "2025-11-25", "2026-07-28"])("in %s, a message that a tool logs", (revision) => {
  test("before, between and after its questions comes once", async () => {
    const server = createServer({ name: "s", version: "1" });
    server.tool("t", {}, async (_args, ctx) => {
      ctx.log("info", "begins");
      const first = await ctx.elicit("Your name?", form);
      ctx.log("info", "first");
      const [second] = await Promise.all([ctx.elicit("Another?", form), ctx.elicit("And the last?", form)]);
      ctx.log("info", "second");
      return `${first.content?.name} ${second.content?.name}`;
    });
    const said = await logged(server, revision, "Ada", "Bob", "Cy");
    expect(said).toEqual(["begins", "first", "second", text("Ada Bob")]);
  });

  test("on another way than in the round before is not lost", async () => {
    let runs = 0;
    const server = createServer({ name: "s", version: "1" });
    server.tool("t", {}, async (_args, ctx) => {
      runs += 1;
      if (runs === 1) await ctx.elicit("Your name?", form);
      ctx.log("info", "done");
      throw new ToolError("no");
    });
    expect(await logged(server, revision, "Ada")).toEqual(["done", text("no")]);
  });
});
