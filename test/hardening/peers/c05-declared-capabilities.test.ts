import { versions } from "@parlance/mcp";
import { type ClientOptions, connect } from "@parlance/mcp/client";
import { createServer, type ServerOptions } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { errorOf } from "../../client/session/openings.js";

const info = { name: "declaring", version: "1" };
const ui = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const own = { "acme/colours": { red: true } };

/** The capabilities that client and server learn of each other in that revision. */
async function declared(
  revision: string,
  server: Partial<ServerOptions>,
  client: ClientOptions = {},
): Promise<{ server: object; client: unknown }> {
  let seen: unknown;
  const served = createServer({ ...info, ...server });
  served.method("acme/who", (_params, operation) => {
    seen = operation.client.capabilities;
  });
  await using open = await connect(served, { revision, ...client });
  await open.call("acme/who");
  expect(open.server.info).toEqual(info);
  return { server: open.server.capabilities, client: seen };
}

describe.each(versions)("C5: capabilities that are declared in %s", (revision) => {
  test("go out beside those that are offered, on both sides", async () => {
    const both = { extensions: ui, experimental: own };
    const seen = await declared(revision, { capabilities: both }, { capabilities: both, handlers: { roots: [] } });
    expect(seen).toEqual({ server: { logging: {}, ...both }, client: { roots: {}, ...both } });
  });

  test("let a server promise what it adds later", async () => {
    const capabilities = { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true } };
    const server = createServer({ ...info, capabilities });
    await using client = await connect(server, { revision });
    expect(await client.tools.list().all()).toEqual([]);
    expect(await client.prompts.list().all()).toEqual([]);
    expect(await client.resources.list().all()).toEqual([]);
    const changes = await client.subscribe({ toolsListChanged: true });
    server.tool("late", {}, () => "here");
    for await (const change of changes) {
      expect(change).toEqual({ kind: "list", list: "tools" });
      break;
    }
    await changes.close();
    expect((await client.tools.call("late")).content).toEqual([{ type: "text", text: "here" }]);
  });

  test("win over inferred ones: a list may be one without notifications of changes", async () => {
    const server = createServer({ ...info, capabilities: { tools: { listChanged: false } } });
    server.tool("t", {}, () => "");
    await using client = await connect(server, { revision });
    expect(client.server.capabilities.tools).toEqual({ listChanged: false });
    expect(await errorOf(client.subscribe({ toolsListChanged: true }))).toMatchObject({ reason: "refused" });
  });
});

describe("C5: capabilities are checked when they are given", () => {
  test.each<[unknown, string]>([
    [[], "capabilities must be a plain object of JSON, got an array"],
    [{ tools: true }, "capabilities.tools must be a plain object of JSON, got a boolean"],
    [
      { extensions: { "acme/x": "on" } },
      'capabilities.extensions["acme/x"] must be a plain object of JSON, got a string',
    ],
    [{ experimental: { x: { at: new Date(0) } } }, "capabilities.experimental.x.at must be JSON, got a Date"],
    [{ experimental: { x: { list: [() => 1] } } }, "capabilities.experimental.x.list[0] must be JSON, got a function"],
    [{ experimental: { x: { size: Number.NaN } } }, "capabilities.experimental.x.size must be JSON, got NaN"],
  ])("%j", async (given, message) => {
    const capabilities = given as object;
    expect(() => createServer({ ...info, capabilities })).toThrow(new TypeError(`createServer: ${message}`));
    expect(await errorOf(connect(createServer(info), { capabilities }))).toEqual(new TypeError(`connect: ${message}`));
  });

  test("what contains itself is refused", () => {
    const settings: Record<string, unknown> = {};
    settings.self = settings;
    expect(() => createServer({ ...info, capabilities: { experimental: { settings } } })).toThrow("nested too deep");
  });

  test("what a program changes afterwards is not declared, and what is undefined is not there", async () => {
    const extensions: Record<string, object> = { ...ui };
    const capabilities = { extensions, tools: undefined } as unknown as ServerOptions["capabilities"] & object;
    const server = createServer({ ...info, capabilities });
    extensions["acme/late"] = {};
    expect(server.capabilities()).toEqual({ logging: {}, extensions: ui });
  });

  test("subscriptions are not promised by a server that offers none", () => {
    const options = { ...info, resourceSubscriptions: false, capabilities: { resources: { subscribe: true } } };
    expect(() => createServer(options)).toThrow("capabilities.resources.subscribe");
  });
});
