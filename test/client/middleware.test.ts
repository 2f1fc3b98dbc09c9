import { type Client, type ClientOptions, connect, LocalError, type Middleware } from "@parlance/mcp/client";
import { createServer, elicitForm, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { turn } from "../testing/talks.js";
import { info } from "./session/openings.js";

const eras = [{ revision: "2025-11-25" }, { revision: "2026-07-28" }];

/** A server with one of everything, which records the methods and tokens of the requests that it gets. */
function shop(): { readonly server: Server; readonly seen: unknown[] } {
  const seen: unknown[] = [];
  const server = createServer({ name: "shop", version: "1", pageSize: 1 });
  server.tool("a", {}, () => "bought");
  server.tool("b", {}, async (_args, ctx) => {
    const { size } = await ctx.requestInput({ size: elicitForm("Which size?", { type: "object", properties: {} }) });
    return size.action;
  });
  server.resource("shop:door", { name: "door" }, () => "open");
  server.use((next) => (method, params, operation) => {
    seen.push([method, (params._meta as Record<string, unknown> | undefined)?.["example.com/token"]]);
    return next(method, params, operation);
  });
  return { server, seen };
}

function connectTo(server: Server, options: ClientOptions = {}): Promise<Client> {
  return connect(server, { info, cache: false, ...options });
}

/** Records the methods of the requests that pass through it. */
function recorder(): { readonly middleware: Middleware; readonly methods: string[] } {
  const methods: string[] = [];
  return {
    methods,
    middleware: (next) => (method, params, context) => {
      methods.push(method);
      return next(method, params, context);
    },
  };
}

describe.each(eras)("middleware of a client in $revision", ({ revision }) => {
  test("wraps each request in order; the first is the outermost", async () => {
    const { server } = shop();
    await using client = await connectTo(server, { revision });
    const seen: unknown[] = [];
    for (const name of ["outer", "inner"]) {
      client.use((next) => async (method, params, options) => {
        seen.push([name, method, params.name, options.timeout]);
        const result = await next(method, params, options);
        seen.push([name, result]);
        return result;
      });
    }
    const result = await client.tools.call("a", {}, { timeout: 5_000 });
    expect(result).toMatchObject({ content: [{ type: "text", text: "bought" }] });
    expect(seen).toEqual([
      ["outer", "tools/call", "a", 5_000],
      ["inner", "tools/call", "a", 5_000],
      ["inner", result],
      ["outer", result],
    ]);
  });

  test("sees the pages of a list, pings, subscriptions, and calls of any method", async () => {
    const { server } = shop();
    await using client = await connectTo(server, { revision });
    const { middleware, methods } = recorder();
    client.use(middleware);
    await client.tools.list().all();
    await client.ping();
    await client.call("resources/read", { uri: "shop:door" });
    const subscription = await client.resources.subscribe("shop:door");
    await subscription.close();
    expect(methods.slice(0, 2)).toEqual(["tools/list", "tools/list"]);
    const [ping, subscribe, unsubscribe] =
      revision === "2026-07-28"
        ? ["server/discover", "subscriptions/listen"]
        : ["ping", "resources/subscribe", "resources/unsubscribe"];
    expect(methods.slice(2)).toEqual([ping, "resources/read", subscribe, ...(unsubscribe ? [unsubscribe] : [])]);
  });

  test("changes params on the wire", async () => {
    const { server, seen } = shop();
    await using client = await connectTo(server, { revision });
    client.use((next) => (method, params, options) => {
      const meta = { ...(params._meta as object), "example.com/token": "secret" };
      return next(method, { ...params, _meta: meta }, options);
    });
    await client.tools.call("a");
    expect(seen).toEqual([["tools/call", "secret"]]);
  });

  test("answers without a request", async () => {
    const { server, seen } = shop();
    await using client = await connectTo(server, { revision });
    client.use(() => () => ({ content: [] }));
    expect(await client.tools.call("a")).toEqual({ content: [] });
    expect(seen).toEqual([]);
  });

  test("fails the call with its own error", async () => {
    const { server } = shop();
    await using client = await connectTo(server, { revision });
    const error = new LocalError("refused", "not today");
    client.use(() => () => {
      throw error;
    });
    await expect(client.tools.call("a")).rejects.toBe(error);
  });

  test("fails the call if it returns no object", async () => {
    const { server } = shop();
    await using client = await connectTo(server, { revision });
    client.use((next) => (method, params, options) => void next(method, params, options));
    await expect(client.tools.call("a")).rejects.toThrow(
      new TypeError("tools/call: a middleware returned nothing, not the object of a result"),
    );
  });

  test("may ignore the promise of a request that fails", async () => {
    const { server } = shop();
    await using client = await connectTo(server, { revision });
    client.use((next) => (method, params, options) => {
      void next(method, params, options);
      return { content: [] };
    });
    expect(await client.tools.call("unknown")).toEqual({ content: [] });
    await turn();
  });

  test("must return a function", async () => {
    const { server } = shop();
    await using client = await connectTo(server, { revision });
    const promised = (async () => undefined) as unknown as Middleware;
    expect(() => client.use(promised)).toThrow(
      new TypeError("use: a middleware must return a function (method, params, context), got an object"),
    );
    expect(await client.tools.call("a")).toMatchObject({ content: [{ text: "bought" }] });
  });

  test("is created once per session", async () => {
    const { server } = shop();
    await using client = await connectTo(server, { revision });
    let created = 0;
    client.use((next) => {
      created += 1;
      return next;
    });
    await client.tools.call("a");
    await client.tools.call("a");
    expect(created).toBe(1);
  });

  test("serves a server as well", async () => {
    const { server } = shop();
    await using client = await connectTo(server, { revision });
    const { middleware, methods } = recorder();
    server.use(middleware);
    client.use(middleware);
    await client.tools.call("a");
    expect(methods).toEqual(["tools/call", "tools/call"]);
  });
});

test("wraps each round of a call that requests input", async () => {
  const { server } = shop();
  const handlers = { elicitation: () => ({ action: "decline" }) as const };
  await using client = await connectTo(server, { handlers });
  const rounds: unknown[] = [];
  client.use((next) => (method, params, options) => {
    rounds.push([method, params.inputResponses]);
    return next(method, params, options);
  });
  await client.tools.call("b");
  expect(rounds).toEqual([
    ["tools/call", undefined],
    ["tools/call", { size: { action: "decline" } }],
  ]);
});

test("does not run for a response from the cache", async () => {
  const server = createServer({ name: "shop", version: "1", listCache: { ttlMs: 60_000, cacheScope: "public" } });
  server.tool("a", {}, () => "bought");
  await using client = await connect(server, { info });
  const { middleware, methods } = recorder();
  client.use(middleware);
  await client.tools.list().all();
  await client.tools.list().all();
  expect(methods).toEqual(["tools/list"]);
});
