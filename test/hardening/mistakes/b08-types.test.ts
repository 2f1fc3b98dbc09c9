import type * as protocol from "@parlance/mcp";
import { type Client, connect, type ElicitResult, type ToolTypes } from "@parlance/mcp/client";
import { compile } from "@parlance/mcp/schema";
import { type CallToolResult, type ContentBlock, createServer, type Server, tool } from "@parlance/mcp/server";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { FormSchema } from "../../../packages/mcp/src/protocol/types/elicitation.js";
import type { FormResponse } from "../../../packages/mcp/src/server/input/input-requests.js";

// The claims about types are judged where the tests are type-checked (strict, exactOptionalPropertyTypes).

const info = { name: "adder", version: "1.0.0" };
const numbers = { a: z.number(), b: z.number() };
const add = tool("add", { inputSchema: numbers, outputSchema: { sum: z.number() } }, ({ a, b }) => ({ sum: a + b }));
const greet = tool("greet", { inputSchema: { name: z.string().default("you") } }, ({ name }) => `Hello ${name}`);
const now = tool("now", {}, () => "noon");

describe("B8: a server types its client", () => {
  test("connect(server) knows names, arguments and results of the tools it was created with", async () => {
    await using client = await connect(createServer({ ...info, tools: [add, greet, now] }));
    const { structuredContent } = await client.tools.call("add", { a: 2, b: 3 });
    expectTypeOf(structuredContent).toEqualTypeOf<{ sum: number } | undefined>();
    expect(structuredContent?.sum).toBe(5);
    expect((await client.tools.call("greet")).content).toEqual([{ type: "text", text: "Hello you" }]);
    expect((await client.tools.call("now")).content).toEqual([{ type: "text", text: "noon" }]);
    expect((await client.tools.list().all()).map(({ name }) => name)).toEqual(["add", "greet", "now"]);
  });

  test("what is wrong does not compile", async () => {
    await using client = await connect(createServer({ ...info, tools: [add, greet, now] }));
    // @ts-expect-error its arguments are required
    expect(await client.tools.call("add")).toMatchObject({ isError: true });
    // @ts-expect-error one is missing
    expect(await client.tools.call("add", { a: 1 })).toMatchObject({ isError: true });
    // @ts-expect-error one is of another type
    expect(await client.tools.call("add", { a: 1, b: "2" })).toMatchObject({ isError: true });
    // @ts-expect-error it takes none
    expect(await client.tools.call("now", { zone: "UTC" })).toMatchObject({ isError: true });
    // @ts-expect-error there is no such tool
    await expect(client.tools.call("sub", { a: 1, b: 2 })).rejects.toThrow("Unknown tool: sub");
  });

  test("types that are given count for more, and a server that says nothing has any tool", async () => {
    const server = createServer(info);
    server.tool("add", { inputSchema: numbers }, ({ a, b }) => `${a + b}`);
    expectTypeOf(server).toEqualTypeOf<Server<ToolTypes>>();
    await using client = await connect(server);
    expectTypeOf(client).toEqualTypeOf<Client<ToolTypes>>();
    expect((await client.tools.call("add", { a: 1, b: 2 })).content).toEqual([{ type: "text", text: "3" }]);
    await using typed = await connect<{ add: { inputSchema: typeof numbers } }>(server);
    // @ts-expect-error its arguments are required
    expect(await typed.tools.call("add")).toMatchObject({ isError: true });
  });

  test("tools of the options are as any other", async () => {
    const server = createServer({ ...info, tools: [add] });
    server.tool("later", {}, () => "x");
    expect(() => server.tool("add", {}, () => "x")).toThrow("The tool add is already defined");
    // @ts-expect-error in JavaScript
    expect(() => tool("add", {})).toThrow("server.tool add: the handler is missing");
  });
});

describe("B8: methods and notifications are typed by name", () => {
  test("client.call", async () => {
    await using client = await connect(createServer({ ...info, tools: [now] }));
    const { tools } = await client.call("tools/list");
    expectTypeOf(tools).toEqualTypeOf<readonly protocol.Tool[]>();
    expect(tools.map(({ name }) => name)).toEqual(["now"]);
    // @ts-expect-error a resource has a URI
    await expect(client.call("resources/read", { url: "a:b" })).rejects.toThrow();
    // @ts-expect-error and it is required
    await expect(client.call("resources/read")).rejects.toThrow();
    const extension = client.call("acme/double", { number: 2 });
    expectTypeOf(extension).resolves.toEqualTypeOf<Readonly<Record<string, unknown>>>();
    await expect(extension).rejects.toThrow();
  });

  test("handlers of notifications", async () => {
    const server = createServer({
      ...info,
      tools: [tool("speak", {}, (_args, ctx) => void ctx.log("warning", { at: 7 }))],
    });
    const heard: unknown[] = [];
    await using client = await connect(server, {
      revision: "2025-11-25",
      notifications: {
        "notifications/message"({ level, data }) {
          expectTypeOf(level).toEqualTypeOf<protocol.LoggingLevel>();
          heard.push([level, data]);
        },
      },
      onNotification: (method) => void heard.push(method),
    });
    await client.setLogLevel("debug");
    await client.tools.call("speak");
    expect(heard).toEqual([["warning", { at: 7 }], "notifications/message"]);
  });

  test("one that does not exist is refused", async () => {
    const server = createServer(info);
    // @ts-expect-error it is notifications/message
    await expect(connect(server, { notifications: { message: () => undefined } })).rejects.toThrow(
      'connect: notifications: unknown member "message": did you mean notifications/message?',
    );
  });
});

describe("B8: types stand where they are looked for, and fit", () => {
  test("what a tool returns", () => {
    expectTypeOf<ContentBlock>().toEqualTypeOf<protocol.ContentBlock>();
    expectTypeOf<CallToolResult>().toEqualTypeOf<protocol.CallToolResult>();
  });

  test("forms and their answers, with exactOptionalPropertyTypes", () => {
    const title: string | undefined = undefined;
    const schema: FormSchema = { type: "object", properties: { name: { type: "string", title, default: title } } };
    expect(compile(schema).check({ name: "Ann" })).toMatchObject({ ok: true });
    const answers: FormResponse<{ name: string }>[] = [
      { action: "accept", content: { name: "Ann" } },
      { action: "decline" },
    ];
    const results: ElicitResult[] = answers;
    const content: { name: string } | undefined = undefined;
    results.push({ action: "cancel", content });
    expect(results.map(({ action }) => action)).toEqual(["accept", "decline", "cancel"]);
  });
});
