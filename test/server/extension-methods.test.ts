import { versions } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { createServer, RpcError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { errorOf } from "../client/session/openings.js";

describe.each(versions)("in %s, a method of an extension", (revision) => {
  test("takes its params and gives its result", async () => {
    const server = createServer({ name: "acme", version: "1" });
    server.method("acme/double", ({ number }) => ({ doubled: Number(number) * 2 }));
    server.method("acme/nothing", async () => undefined);
    await using client = await connect(server, { revision });
    expect(await client.call("acme/double", { number: 21 })).toMatchObject({ doubled: 42 });
    await client.call("acme/nothing");
  });

  test("that fails says so in its own words", async () => {
    const server = createServer({ name: "acme", version: "1" });
    server.method("acme/fail", () => {
      throw new RpcError(7, "No luck", { today: true });
    });
    await using client = await connect(server, { revision });
    expect(await errorOf(client.call("acme/fail"))).toMatchObject({ code: 7, data: { today: true } });
  });

  test("goes through the middlewares and hooks, an unknown one too", async () => {
    const seen: string[] = [];
    const server = createServer({
      name: "acme",
      version: "1",
      onCall: ({ method }) => void seen.push(`call ${method}`),
    });
    server.method("acme/do", () => ({}));
    server.use((next) => (method, params, operation) => {
      seen.push(method);
      return method === "acme/more" ? { more: true } : next(method, params, operation);
    });
    await using client = await connect(server, { revision });
    await client.call("acme/do");
    expect(await client.call("acme/more")).toMatchObject({ more: true });
    expect(await errorOf(client.call("acme/none"))).toMatchObject({ code: -32_601, data: { method: "acme/none" } });
    const called = ["acme/do", "acme/more", "acme/none"];
    expect(seen).toEqual(called.flatMap((method) => [`call ${method}`, method]));
  });
});

describe("a method cannot be added", () => {
  test.each([
    ["tools/call", "the protocol has it"],
    ["tasks/get", "the protocol has it"],
    ["rpc.discover", "rpc."],
    ["acme/do", "already"],
    ["", "empty"],
  ])("as %j: %s", (name, why) => {
    const server = createServer({ name: "acme", version: "1" });
    server.method("acme/do", () => ({}));
    expect(() => server.method(name, () => ({}))).toThrow(why);
  });
});
