import {
  type CallToolResult,
  type CreateMessageResult,
  connect,
  type GetPromptResult,
  textOf,
} from "@parlance/mcp/client";
import { createServer, tool } from "@parlance/mcp/server";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";

const pair = tool(
  "pair",
  {
    inputSchema: z.object({ first: z.string(), second: z.string() }),
    outputSchema: z.object({ joined: z.string() }),
  },
  ({ first, second }) => ({
    content: [
      { type: "text", text: first },
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "text", text: second },
    ],
    structuredContent: { joined: first + second },
  }),
);

const server = createServer({ name: "texts", version: "1.0.0", tools: [pair] });
server.tool("picture", {}, () => ({ content: [{ type: "image", data: "AA==", mimeType: "image/png" }] }));
server.tool("embed", {}, () => ({
  content: [{ type: "resource", resource: { uri: "note:1", text: "a note" } }],
}));
server.prompt("review", {}, () => [{ role: "user", content: { type: "text", text: "Review this" } }]);
server.resource("note:1", { name: "note" }, () => "a note");

describe("textOf", () => {
  test("joins the text blocks of a tool result by line feeds", async () => {
    await using client = await connect(server);
    const result = await client.tools.call("pair", { first: "a", second: "b" });
    expectTypeOf(result.structuredContent).toEqualTypeOf<{ joined: string } | undefined>();
    expect(textOf(result)).toBe("a\nb");
  });

  test("is empty without a text block", async () => {
    await using client = await connect<never>(server);
    expect(textOf(await client.tools.call("picture"))).toBe("");
    expect(textOf(await client.tools.call("embed"))).toBe("");
    expect(textOf({ content: [] })).toBe("");
  });

  test("takes a prompt message, a sampling message and a read resource", async () => {
    await using client = await connect(server);
    const { messages } = await client.prompts.get("review");
    expect(messages.map((message) => textOf(message))).toEqual(["Review this"]);
    expect(textOf(await client.resources.read("note:1"))).toBe("a note");
    const sampled: CreateMessageResult = {
      role: "assistant",
      model: "small",
      content: [
        { type: "text", text: "It is" },
        { type: "text", text: "seven" },
      ],
    };
    expect(textOf(sampled)).toBe("It is\nseven");
  });

  test("leaves out blocks of a peer that are none", async () => {
    const blocks: unknown[] = [
      null,
      1,
      "text",
      { type: "text" },
      { type: "text", text: 7 },
      { type: "text", text: "ok" },
    ];
    const loose = createServer({ name: "loose", version: "1.0.0" });
    loose.method("acme/loose", () => ({ content: blocks }));
    await using client = await connect(loose);
    const { content } = await client.call("acme/loose");
    expect(textOf({ content: content as CallToolResult["content"] })).toBe("ok");
  });
});

test("client.call has the result type of the method that it names", async () => {
  await using client = await connect(server);
  const prompt = await client.call("prompts/get", { name: "review" });
  expectTypeOf(prompt).toEqualTypeOf<GetPromptResult>();
  expect(prompt.messages.map((message) => textOf(message))).toEqual(["Review this"]);
  const called = await client.call("tools/call", { name: "pair", arguments: { first: "a", second: "b" } });
  expectTypeOf(called).toExtend<CallToolResult>();
  expect(textOf(called)).toBe("a\nb");
  // @ts-expect-error the name is required
  const withoutName = (): unknown => client.call("prompts/get", {});
  expectTypeOf(withoutName).toBeFunction(); // Not called: the client would send it.
});
