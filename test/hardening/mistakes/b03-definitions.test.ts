import { bridgeTo } from "@parlance/mcp/bridge";
import { connect } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { createService, memoryChannels, openConnection } from "@parlance/mcp/jsonrpc";
import { childChannel, nodeHandler, serveHttp, serveStdio, serveTcp } from "@parlance/mcp/node";
import { createServer, type Server, serveChannel } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";

const info = { name: "shop", version: "1.0.0" };
const handler = (): string => "done";

/** Calls with arguments that TypeScript refuses, as JavaScript does. */
function js<Result>(call: (...args: never[]) => Result, ...args: unknown[]): Result {
  return call(...(args as never[]));
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as Error).message;
  }
  throw new Error("nothing was refused");
}

async function rejection(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error("nothing was refused"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TypeError);
  return (error as Error).message;
}

describe("B3: definitions are checked when given", () => {
  const tool = (...args: unknown[]): string => messageOf(() => js(createServer(info).tool, ...args));

  test.each([
    ["input", "inputSchema"],
    ["parameters", "inputSchema"],
    ["paramsSchema", "inputSchema"],
    ["inputschema", "inputSchema"],
    ["output", "outputSchema"],
    ["desciption", "description"],
    ["meta", "_meta"],
  ])("a tool with %s is told of %s", (wrong, right) => {
    expect(tool("add", { [wrong]: {} }, handler)).toBe(
      `The tool add: unknown member "${wrong}": did you mean ${right}?`,
    );
  });

  test("for a misplaced member, the error names its place", () => {
    expect(tool("add", { handler }, handler)).toBe(
      'The tool add: unknown member "handler": the handler is the third argument of server.tool',
    );
    expect(tool("add", { readOnlyHint: true }, handler)).toContain("it belongs into annotations");
  });

  test("members of annotations, icons and execution are looked at too", () => {
    expect(tool("add", { annotations: { readOnly: true } }, handler)).toBe(
      'The tool add: annotations: unknown member "readOnly": did you mean readOnlyHint?',
    );
    expect(tool("add", { icons: [{ url: "https://example.com/a.png" }] }, handler)).toContain("did you mean src?");
    expect(tool("add", { execution: { tasks: "optional" } }, handler)).toContain("did you mean taskSupport?");
  });

  test("a member without a like one is answered with all there are", () => {
    expect(tool("add", { colour: "red" }, handler)).toBe(
      'The tool add: unknown member "colour": it may have title, description, inputSchema, outputSchema, annotations, icons, execution, scopes, visible, _meta',
    );
  });

  test("for a missing handler, swapped arguments and positional ones, the error shows the call to write", () => {
    const remedy = 'write server.tool("add", { description, inputSchema }, (args, ctx) => …)';
    expect(tool("add", {})).toBe(`server.tool add: the handler is missing: ${remedy}`);
    expect(tool("add", handler, {})).toBe(`server.tool add: the definition comes before the handler: ${remedy}`);
    expect(tool("add", handler)).toBe(
      `server.tool add: the definition, which may be {}, is missing before the handler: ${remedy}`,
    );
    expect(tool("add", "Adds", { a: z.number() }, handler)).toBe(
      `server.tool add: a description is a member of the definition, not an argument: ${remedy}`,
    );
    expect(tool({ name: "add" }, handler)).toContain("the first argument must be a string, got an object");
    expect(tool("add", {}, "handler")).toContain("the handler must be a function, got a string");
  });

  test("a schema under another name is no field", () => {
    expect(tool("add", { input: z.object({}) }, handler)).toBe(
      'The tool add: unknown member "input": did you mean inputSchema?',
    );
  });

  test("for the official SDK's positional shape, the error names inputSchema", () => {
    expect(tool("add", { a: z.number(), b: z.number() }, handler)).toBe(
      'The tool add: these are the fields of its inputSchema: write server.tool("add", { inputSchema: { a, b } }, handler)',
    );
  });

  test.each([
    ["registerTool", "server.tool"],
    ["addTool", "server.tool"],
    ["registerResource", "server.resource"],
    ["registerPrompt", "server.prompt"],
    ["setRequestHandler", "server.method"],
    ["connect", "serveStdio(server)"],
    ["listen", "serveHttp(server"],
  ])("server.%s names %s", (method, right) => {
    const server = createServer(info) as unknown as Record<string, () => void>;
    const message = messageOf(() => server[method]?.());
    expect(message).toContain(`There is no server.${method}: `);
    expect(message).toContain(right);
  });

  test("prompts, resources and templates too", () => {
    const server = createServer(info);
    const arg = { arguments: { code: { type: "string" } } };
    expect(messageOf(() => js(server.prompt, "review", { argsSchema: {} }, handler))).toContain(
      "did you mean arguments?",
    );
    expect(messageOf(() => js(server.prompt, "review", arg, handler))).toContain(
      'The argument code: unknown member "type": it may have title, description, required',
    );
    expect(messageOf(() => js(server.prompt, "review", {}))).toContain("server.prompt review: the handler is missing");
    expect(messageOf(() => js(server.resource, "config:/app", { mimetype: "text/plain" }, handler))).toContain(
      "did you mean mimeType?",
    );
    expect(messageOf(() => js(server.resource, "config:/app", handler))).toContain("server.resource config:/app");
    expect(messageOf(() => js(server.resourceTemplate, "note:/{id}", { size: 3 }, handler))).toContain(
      'The template note:/{id}: unknown member "size"',
    );
    expect(messageOf(() => js(server.method, "acme/double"))).toContain("expected a function, got nothing");
  });

  test("an update is checked as the definition was, and changes nothing", async () => {
    const server = createServer(info);
    const registration = server.tool("add", { description: "Adds" }, handler);
    expect(messageOf(() => js(registration.update, { desc: "Adds numbers" }))).toContain("did you mean description?");
    await using client = await connect(server);
    expect((await client.tools.list().all())[0]?.description).toBe("Adds");
  });

  test("_meta takes unknown members, and a member that is undefined was not given", async () => {
    const server = createServer(info);
    js(server.tool, "add", { _meta: { "example.com/later": { x: 1 } }, input: undefined }, handler);
    await using client = await connect(server);
    expect((await client.tools.list().all())[0]).toEqual({
      name: "add",
      inputSchema: { type: "object", additionalProperties: false },
      _meta: { "example.com/later": { x: 1 } },
    });
  });
});

describe("B3: options are checked when given", () => {
  test("createServer needs a name and a version", () => {
    const example = 'createServer({ name: "my-server", version: "1.0.0" })';
    expect(messageOf(() => js(createServer, {}))).toBe(`createServer: name and version must be strings: ${example}`);
    expect(messageOf(() => js(createServer))).toContain(example);
    expect(messageOf(() => js(createServer, { name: "shop" }))).toContain("version must be a string");
    expect(messageOf(() => js(createServer, "shop"))).toBe(
      `createServer: expected an object of options, got a string: ${example}`,
    );
  });

  test("options of a server that do not exist never reach its description", () => {
    expect(messageOf(() => js(createServer, { ...info, pagesize: 5 }))).toBe(
      'createServer: unknown member "pagesize": did you mean pageSize?',
    );
    expect(messageOf(() => js(createServer, { ...info, report: console.error }))).toBe(
      'createServer: unknown member "report": it is an option of what serves the server, such as serveStdio(server, { report })',
    );
    expect(messageOf(() => js(createServer, { ...info, tasks: { tll: 1 } }))).toContain(
      'createServer: tasks: unknown member "tll": did you mean ttl?',
    );
  });

  test("options of a client", async () => {
    const server: Server = createServer(info);
    const refused = (options: object): Promise<string> => rejection(js(connect, server, options) as Promise<unknown>);
    expect(await refused({ revison: "2025-11-25" })).toBe('connect: unknown member "revison": did you mean revision?');
    expect(await refused({ handlers: { elicit: handler } })).toContain(
      'connect: handlers: unknown member "elicit": did you mean elicitation?',
    );
    for (const member of ["answers", "onElicit", "elicitation", "onRoots"]) {
      expect(await refused({ [member]: handler })).toBe(
        `connect: unknown member "${member}": write handlers: { elicitation, sampling, roots }`,
      );
    }
    expect(await refused({ limits: { maxBytes: 1 } })).toContain("connect: limits: ");
    expect(messageOf(() => js(bridgeTo, "https://example.com/mcp", { header: {} }))).toContain("did you mean headers?");
  });

  test("options of what serves", async () => {
    const server = createServer(info);
    const [, far] = memoryChannels();
    expect(await rejection(js(serveHttp, server, { prot: 3000 }) as Promise<unknown>)).toBe(
      'serveHttp: unknown member "prot": did you mean port?',
    );
    expect(await rejection(js(serveHttp, server, { sessions: { ttl: 1 } }) as Promise<unknown>)).toContain(
      'sessions, unless it is false or "none": unknown member "ttl": did you mean idleTtl?',
    );
    expect(await rejection(Promise.resolve().then(() => js(serveStdio, server, { port: 1 })))).toContain(
      "serveStdio: ",
    );
    expect(await rejection(Promise.resolve().then(() => js(serveTcp, server, { port: 0 }, { max: 1 })))).toContain(
      "did you mean maxConnections?",
    );
    expect(await rejection(Promise.resolve().then(() => js(serveTcp, server, { port: 0, hostname: "::1" })))).toContain(
      "did you mean host?",
    );
    expect(messageOf(() => js(nodeHandler, server, { hosts: [] }))).toContain("did you mean allowedHosts?");
    expect(messageOf(() => js(httpHandler, server, { authenticate: handler }))).toContain("did you mean auth?");
    expect(messageOf(() => js(serveChannel, server, far, { timeoutMs: 5 }))).toContain("did you mean timeout?");
    expect(messageOf(() => js(childChannel, { command: "node", arguments: [] }))).toContain("did you mean args?");
  });

  test("options of a connection and of a service", async () => {
    const [near] = memoryChannels();
    expect(messageOf(() => js(openConnection, near, { handler }))).toBe(
      'openConnection: unknown member "handler": did you mean handle?',
    );
    const service = createService();
    expect(messageOf(() => js(service.method, "sum", handler, { parameters: ["a"] }))).toBe(
      'The method sum: unknown member "parameters": did you mean params?',
    );
    expect(messageOf(() => js(service.method, "sum"))).toContain("The method sum: expected a function, got nothing");
  });

  test("options of a call", async () => {
    const server = createServer(info);
    server.tool("add", {}, handler);
    await using client = await connect(server);
    const { tools } = client;
    const call = js(tools.call.bind(tools), "add", {}, { timeoutMs: 5 }) as Promise<unknown>;
    expect(await rejection(call)).toContain('unknown member "timeoutMs": did you mean timeout?');
    const subscription = js(client.subscribe.bind(client), { tools: true }) as Promise<unknown>;
    expect(await rejection(subscription)).toBe('subscribe: unknown member "tools": did you mean toolsListChanged?');
    const [near, far] = memoryChannels();
    openConnection(far, { handle: handler });
    await using connection = openConnection(near);
    expect(await rejection(js(connection.call, "sum", {}, { timeoutMs: 5 }) as Promise<unknown>)).toContain(
      "did you mean timeout?",
    );
  });
});
