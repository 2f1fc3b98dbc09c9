/** What people write who come from elsewhere, from memory or from a model that has seen other libraries. */
export interface Mistake {
  readonly item: "B1" | "B2" | "B3" | "B4" | "B5" | "B6" | "B7" | "B8" | "B9";
  readonly title: string;
  /** TypeScript that is JavaScript too. `server`, `call` and the names of `prelude` in the test are in scope. */
  readonly code: string;
  /** Whether the TypeScript compiler lets it pass. */
  readonly compiles: boolean;
  /** What is in the message: the thing, and the remedy. None for code that works. */
  readonly says: readonly string[];
  /** The same with the official SDK, v2, for comparison. */
  readonly sdk?: string;
}

const add = "({ a, b }) => String(a + b)";

export const mistakes: readonly Mistake[] = [
  {
    item: "B3",
    title: "input: instead of inputSchema:",
    code: `server.tool("add", { input: z.object({ a: z.number() }) }, () => "");`,
    compiles: false,
    says: ["The tool add", '"input"', "did you mean inputSchema?"],
    sdk: `server.registerTool("add", { input: z.object({ a: z.number() }) }, () => ({ content: [] })); await call("add", { a: 1 });`,
  },
  {
    item: "B3",
    title: "parameters: instead of inputSchema:",
    code: `server.tool("add", { parameters: { type: "object" } }, () => "");`,
    compiles: false,
    says: ["The tool add", '"parameters"', "did you mean inputSchema?"],
    sdk: `server.registerTool("add", { parameters: { type: "object" } }, () => ({ content: [] })); await call("add", {});`,
  },
  {
    item: "B3",
    title: "the handler inside of the definition",
    code: `server.tool("add", { execute: () => "" });`,
    compiles: false,
    says: ["server.tool add", "the handler is missing", "(args, ctx) => …"],
    sdk: `server.registerTool("add", { execute: () => "" }); return await call("add", {});`,
  },
  {
    item: "B3",
    title: "a missing handler",
    code: `server.tool("add", {});`,
    compiles: false,
    says: ["server.tool add", "the handler is missing", 'write server.tool("add"'],
    sdk: `server.registerTool("add", {}); return await call("add", {});`,
  },
  {
    item: "B3",
    title: "handler and definition swapped",
    code: `server.tool("add", () => "", {});`,
    compiles: false,
    says: ["server.tool add", "the definition comes before the handler", 'write server.tool("add"'],
    sdk: `server.registerTool("add", () => "", {}); return await call("add", {});`,
  },
  {
    item: "B3",
    title: "positional arguments, as the first official SDK had them",
    code: `server.tool("add", "Adds", { a: z.number() }, () => "");`,
    compiles: false,
    says: ["server.tool add", "a description is a member of the definition", "{ description, inputSchema }"],
    sdk: `server.tool("add", "Adds", { a: z.number() }, () => ({ content: [] }));`,
  },
  {
    item: "B3",
    title: "fields in the place of the definition",
    code: `server.tool("add", { a: z.number(), b: z.number() }, () => "");`,
    compiles: false,
    says: ["The tool add", "fields of its inputSchema", "{ inputSchema: { a, b } }"],
    sdk: `server.registerTool("add", { a: z.number() }, () => ({ content: [] })); return await call("add", { a: 1 });`,
  },
  {
    item: "B3",
    title: "registerTool",
    code: `server.registerTool("add", {}, () => "");`,
    compiles: false,
    says: ["server.registerTool", "server.tool(name, { description, inputSchema }"],
  },
  {
    item: "B3",
    title: "server.connect(transport)",
    code: "await server.connect({});",
    compiles: false,
    says: ["server.connect", "serveStdio(server)"],
    sdk: "await server.connect({});",
  },
  {
    item: "B3",
    title: "createServer({})",
    code: "createServer({});",
    compiles: false,
    says: ["createServer", "name and version", 'createServer({ name: "my-server", version: "1.0.0" })'],
    sdk: `return new McpServer({}) ? "nothing" : "";`,
  },
  {
    item: "B3",
    title: 'createServer("shop")',
    code: `createServer("shop");`,
    compiles: false,
    says: ["createServer", "got a string", 'createServer({ name: "my-server", version: "1.0.0" })'],
    sdk: `return new McpServer("shop") ? "nothing" : "";`,
  },
  {
    item: "B3",
    title: "a misspelled option of a server",
    code: `createServer({ name: "shop", version: "1.0.0", instruction: "Buy" });`,
    compiles: false,
    says: ["createServer", '"instruction"', "did you mean instructions?"],
    sdk: `return new McpServer({ name: "shop", version: "1" }, { instruction: "Buy" }) ? "nothing" : "";`,
  },
  {
    item: "B3",
    title: "a misspelled revision",
    code: `await connect(server, { revison: "2025-11-25" });`,
    compiles: false,
    says: ["connect", '"revison"', "did you mean revision?"],
  },
  {
    item: "B3",
    title: "handlers.elicit",
    code: `await connect(server, { handlers: { elicit: () => ({ action: "decline" }) } });`,
    compiles: false,
    says: ["connect: handlers", '"elicit"', "did you mean elicitation?"],
  },
  {
    item: "B3",
    title: "an option of serveHttp that does not exist",
    code: `await serveHttp(server, { hostname: "0.0.0.0" });`,
    compiles: false,
    says: ["serveHttp", '"hostname"', "did you mean host?"],
  },
  {
    item: "B3",
    title: "an option of serveStdio that does not exist",
    code: `await serveStdio(server, { transport: "stdio" });`,
    compiles: false,
    says: ["serveStdio", '"transport"', "it may have limits"],
  },
  {
    item: "B3",
    title: "an option of a call that does not exist",
    code: `const client = await connect(server); await client.tools.call("add", {}, { timeoutMs: 5 });`,
    compiles: false,
    says: ["The options of a call", '"timeoutMs"', "did you mean timeout?"],
    sdk: `await call("add", {}, { timeoutMs: 5 });`,
  },
  {
    item: "B3",
    title: "handler: of a connection",
    code: "openConnection(memoryChannels()[0], { handler: () => 1 });",
    compiles: false,
    says: ["openConnection", '"handler"', "did you mean handle?"],
  },
  {
    item: "B3",
    title: "argsSchema: of a prompt",
    code: `server.prompt("review", { argsSchema: { code: z.string() } }, () => "");`,
    compiles: false,
    says: ["The prompt review", '"argsSchema"', "did you mean arguments?"],
  },
  {
    item: "B3",
    title: "mimetype: of a resource",
    code: `server.resource("config:/app", { mimetype: "text/plain" }, () => "");`,
    compiles: false,
    says: ["The resource config:/app", '"mimetype"', "did you mean mimeType?"],
    sdk: `server.registerResource("app", "config:/app", { mimetype: "text/plain" }, () => ({ contents: [] })); return "nothing";`,
  },
  {
    item: "B4",
    title: "fields of zod",
    code: `server.tool("add", { inputSchema: { a: z.number(), b: z.number() } }, ${add}); return await call("add", { a: 1, b: 2 });`,
    compiles: true,
    says: [],
    sdk: `server.registerTool("add", { inputSchema: { a: z.number() } }, ({ a }) => ({ content: [{ type: "text", text: String(a) }] })); return await call("add", { a: 1 });`,
  },
  {
    item: "B4",
    title: "fields of zod 3",
    code: `server.tool("add", { inputSchema: { a: zod3.number(), b: zod3.number() } }, ${add}); return await call("add", { a: 1, b: 2 });`,
    compiles: true,
    says: [],
  },
  {
    item: "B4",
    title: "an object of valibot",
    code: `server.tool("add", { inputSchema: v.object({ a: v.number(), b: v.number() }) }, ${add}); return await call("add", { a: 1, b: 2 });`,
    compiles: true,
    says: [],
    sdk: `const v = await import("valibot"); server.registerTool("add", { inputSchema: v.object({ a: v.number() }) }, () => ({ content: [] })); return await call("add", { a: 1 });`,
  },
  {
    item: "B4",
    title: "z.number() for arguments",
    code: `server.tool("add", { inputSchema: z.number() }, () => "");`,
    compiles: false,
    says: ["The tool add: inputSchema", '"type": "number"', "give an object of named fields"],
    sdk: `server.registerTool("add", { inputSchema: z.number() }, () => ({ content: [] })); return await call("add", { a: 1 });`,
  },
  {
    item: "B4",
    title: "names of types for fields",
    code: `server.tool("add", { inputSchema: { a: "number" } }, () => "");`,
    compiles: true, // It may be a JSON Schema, which has any keywords.
    says: ["The tool add: inputSchema", "give an object of named fields"],
    sdk: `server.registerTool("add", { inputSchema: { a: "number" } }, () => ({ content: [] })); return await call("add", { a: 1 });`,
  },
  {
    item: "B4",
    title: "a schema by its name",
    code: `server.tool("add", { inputSchema: "object" }, () => "");`,
    compiles: false,
    says: ["The tool add: inputSchema", "got a string", "give JSON Schema"],
  },
  {
    item: "B8",
    title: "a typed call without its arguments",
    code: `const sum = tool("add", { inputSchema: { a: z.number(), b: z.number() } }, ${add});
      const client = await connect(createServer({ name: "shop", version: "1.0.0", tools: [sum] }));
      return textOf(await client.tools.call("add"));`,
    compiles: false,
    says: ["Invalid arguments for tool add", "/a: "],
  },
  {
    item: "B8",
    title: "a typed call of a tool that does not exist",
    code: `const sum = tool("add", { inputSchema: { a: z.number(), b: z.number() } }, ${add});
      const client = await connect(createServer({ name: "shop", version: "1.0.0", tools: [sum] }));
      await client.tools.call("sub", { a: 1, b: 2 });`,
    compiles: false,
    says: ["Unknown tool: sub"],
  },
  {
    item: "B8",
    title: "params of another method",
    code: `const client = await connect(server); await client.call("resources/read", { url: "a:b" });`,
    compiles: false,
    says: ["resources/read", "resources"],
  },
  {
    item: "B1",
    title: "a Buffer for data",
    code: `server.tool("shot", {}, () => ({ type: "image", data: new Uint8Array([1, 2, 3]), mimeType: "image/png" })); return await call("shot");`,
    compiles: true,
    says: [],
    sdk: `server.registerTool("shot", {}, () => ({ content: [{ type: "image", data: Buffer.from("abc"), mimeType: "image/png" }] })); return await call("shot");`,
  },
  {
    item: "B1",
    title: "a block of a type that does not exist",
    code: `server.tool("say", {}, () => ({ content: [{ type: "txt", text: "hello" }] })); return await call("say");`,
    compiles: false,
    says: ["say", "txt"],
    sdk: `server.registerTool("say", {}, () => ({ content: [{ type: "txt", text: "hello" }] })); return await call("say");`,
  },
  {
    item: "B1",
    title: "a returned Error",
    code: `server.tool("fail", {}, () => new Error("no")); return await call("fail");`,
    compiles: false,
    says: ["fail", "Error", "throw"],
    sdk: `server.registerTool("fail", {}, () => new Error("no")); return await call("fail");`,
  },
  {
    item: "B1",
    title: "a returned Map",
    code: `server.tool("list", {}, () => new Map([["a", 1]])); return await call("list");`,
    compiles: false,
    says: ["list", "Map"],
    sdk: `server.registerTool("list", {}, () => new Map([["a", 1]])); return await call("list");`,
  },
  {
    item: "B6",
    title: "a question to a client that answers none",
    code: `server.tool("ask", {}, async (_args, ctx) => { await ctx.elicit("Who?", { name: z.string() }); return "asked"; }); return await call("ask");`,
    compiles: true,
    says: ["elicitation"],
  },
  {
    item: "B6",
    title: "ctx.log taken apart from its context",
    code: `server.tool("speak", {}, async (_args, { log }) => { log("info", "hello"); return "spoke"; }); return await call("speak");`,
    compiles: true,
    says: [],
  },
  {
    item: "B2",
    title: "a bug in a handler, called in a test without report",
    code: `server.tool("add", {}, () => JSON.parse("{")); await (await connect(server)).tools.call("add");`,
    compiles: true,
    says: ["Internal error", '"tools/call" of "add" failed: SyntaxError', "at "],
    sdk: `server.registerTool("add", {}, () => JSON.parse("{")); return await call("add", {});`,
  },
  {
    item: "B5",
    title: "an Error for the model to read",
    code: `server.tool("add", {}, () => { throw new Error("no such account"); }); return await call("add");`,
    compiles: true,
    says: ["Internal error", "no such account", '"add"'],
    sdk: `server.registerTool("add", {}, () => { throw new Error("no such account"); }); return await call("add", {});`,
  },
  {
    item: "B6",
    title: "serveStdio without a server",
    code: "await serveStdio();",
    compiles: false,
    says: ["serveStdio", "createServer"],
  },
  {
    item: "B6",
    title: "connect to nothing",
    code: "await connect(undefined);",
    compiles: false,
    says: ["connect cannot reach nothing", "createServer()"],
  },
  {
    item: "B6",
    title: "connect to a command in one string",
    code: `await connect("node server.js");`,
    compiles: true,
    says: ["connect", "node server.js", '{ command: "node", args: ["server.js"] }'],
  },
  {
    item: "B6",
    title: "a context taken apart",
    code: `server.tool("add", {}, (_args, { log }) => { log("info", "adding"); return "done"; }); return await call("add");`,
    compiles: true,
    says: [],
  },
  {
    item: "B7",
    title: "serveHttp without a server",
    code: "await serveHttp({ port: 0 });",
    compiles: false,
    says: ["serveHttp", "createServer"],
  },
  {
    item: "B9",
    title: "a schema for the params of plain JSON-RPC",
    code: `const service = createService().method("add", ({ a }) => a + 1, { params: z.object({ a: z.number() }) });
      const [here, there] = memoryChannels();
      openConnection(there, { handle: service.call });
      return String(await openConnection(here).call("add", { a: "1" }));`,
    compiles: true,
    says: ["Invalid params"],
  },
];
