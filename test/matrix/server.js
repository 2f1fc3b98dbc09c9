// The server of the matrix. As a program it serves stdio; as a module it makes servers.
import { pathToFileURL } from "node:url";
import { serveStdio } from "@parlance/mcp/node";
import { createServer, elicitForm, inputRequired, listRoots, ToolError } from "@parlance/mcp/server";
import * as z from "zod";

const icons = [{ src: "https://example.com/icon.png", mimeType: "image/png" }];
const annotations = { audience: ["user"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" };
const words = { title: "Title", description: "Description", icons, _meta: { "example.com/a": 1 } };

const blocks = {
  text: { type: "text", text: "words", annotations, _meta: { "example.com/a": 1 } },
  image: { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
  audio: { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
  link: { type: "resource_link", uri: "note:/static", name: "static", title: "Title", icons },
  embedded: { type: "resource", resource: { uri: "note:/static", mimeType: "text/plain", text: "A note" } },
};

const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function matrixServer() {
  const server = createServer({
    name: "matrix",
    version: "1.2.3",
    title: "The matrix",
    description: "Everything once",
    websiteUrl: "https://example.com/",
    icons,
    instructions: "Ask for anything",
    pageSize: 5,
  });
  const effects = { aborted: 0, booked: 0 };
  server.tool("effects", {}, () => effects);
  addResults(server);
  addCalls(server, effects);
  addResources(server);
  addPrompts(server);
  addQuestions(server, effects);
  addChanges(server);
  return server;
}

function addResults(server) {
  for (const [name, block] of Object.entries(blocks)) server.tool(name, {}, () => block);
  const sum = {
    ...words,
    annotations: { readOnlyHint: true },
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  };
  server.tool("sum", sum, ({ a, b }) => ({ sum: a + b }));
  server.tool("series", { outputSchema: z.array(z.number()) }, () => [1, 2, 3]);
  server.tool("nothing", { outputSchema: z.null() }, () => null);
  server.tool("silent", {}, () => ({ content: [], structuredContent: { said: "nothing" } }));
  server.tool("refuse", {}, () => {
    throw new ToolError("I would rather not");
  });
  const greeting = z.object({ name: z.string(), times: z.number().int().min(1).default(1) });
  server.tool("greet", { inputSchema: greeting }, ({ name, times }) => `Hello, ${name}. `.repeat(times).trim());
}

function addCalls(server, effects) {
  const text = { inputSchema: z.object({ text: z.string() }) };
  server.tool("echo", text, ({ text }) => text);
  const late = z.object({ text: z.string(), turns: z.number() });
  server.tool("late", { inputSchema: late }, async ({ text, turns }) => {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return text;
  });
  server.tool("meta", {}, (_args, ctx) => {
    const { "example.com/trace": trace } = ctx.meta;
    return { content: [], _meta: { "example.com/trace": trace } };
  });
  server.tool("client", {}, (_args, ctx) => ({ ...ctx.client, revision: ctx.revision }));
  server.tool("count", {}, (_args, ctx) => {
    for (const progress of [1, 2, 2, 1, 3]) ctx.progress(progress, 3, `step ${progress}`);
    return "counted";
  });
  server.tool("log", {}, (_args, ctx) => {
    for (const level of levels) ctx.log(level, { level }, "matrix");
    return "logged";
  });
  server.tool("wait", {}, (_args, ctx) => {
    ctx.progress(1);
    return new Promise((resolve) => {
      ctx.signal.addEventListener("abort", () => {
        effects.aborted += 1;
        resolve("too late");
      });
    });
  });
}

function addQuestions(server, effects) {
  const traveller = z.object({
    name: z.string().min(2),
    seats: z.number().int().default(1),
    window: z.boolean().default(true),
    meal: z.enum(["fish", "beans"]).optional(),
  });
  server.tool("form", {}, async (_args, ctx) => JSON.stringify(await ctx.elicit("Who travels?", traveller)));
  const fruit = [
    { const: "a", title: "Apple" },
    { const: "p", title: "Pear" },
  ];
  const best = { type: "object", properties: { best: { type: "string", oneOf: fruit } }, required: ["best"] };
  server.tool("choice", {}, async (_args, ctx) => JSON.stringify(await ctx.elicit("Which is best?", best)));
  const all = { type: "array", items: { anyOf: fruit }, minItems: 1 };
  const basket = { type: "object", properties: { all }, required: ["all"] };
  server.tool("choices", {}, async (_args, ctx) => JSON.stringify(await ctx.elicit("Which do you like?", basket)));
  const login = "https://example.com/login";
  server.tool("page", {}, async (_args, ctx) => JSON.stringify(await ctx.elicitUrl("Log in", login)));
  const messages = [{ role: "user", content: { type: "text", text: "Say hi" } }];
  const kindly = { messages, maxTokens: 10, systemPrompt: "Be kind" };
  server.tool("model", {}, async (_args, ctx) => JSON.stringify(await ctx.sample(kindly)));
  const tools = [{ name: "clock", inputSchema: { type: "object" } }];
  const usefully = { messages, maxTokens: 10, tools, toolChoice: { mode: "required" } };
  server.tool("agent", {}, async (_args, ctx) => JSON.stringify(await ctx.sample(usefully)));
  server.tool("where", {}, async (_args, ctx) => JSON.stringify({ roots: await ctx.listRoots() }));
  const name = z.object({ name: z.string() });
  server.tool("at_once", {}, async (_args, ctx) => {
    const { who, where } = await ctx.requestInput({ who: elicitForm("Who?", name), where: listRoots() });
    return `${who.content.name} in ${where[0].uri}`;
  });
  server.tool("explicit", {}, (_args, ctx) => {
    const { where } = ctx.inputResponses;
    return where === undefined
      ? inputRequired({ where: listRoots() }, { asked: 1 })
      : JSON.stringify([where, ctx.requestState]);
  });
  server.tool("repeat", { inputSchema: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
    const { content } = await ctx.sample({
      messages: [{ role: "user", content: { type: "text", text } }],
      maxTokens: 10,
    });
    return `${text}: ${content.text}`;
  });
  server.resource("asking:/roots", {}, async (_uri, ctx) => JSON.stringify(await ctx.listRoots()));
  server.prompt("asking", {}, async (_args, ctx) => JSON.stringify(await ctx.listRoots()));
  server.tool("book", {}, async (_args, ctx) => {
    const book = () => {
      effects.booked += 1;
      return `ticket ${effects.booked}`;
    };
    await ctx.once("ticket", book);
    const who = await ctx.elicit("Who?", name);
    const sure = await ctx.elicit(`Book for ${who.content.name}?`, z.object({ sure: z.boolean() }));
    const ticket = await ctx.once("ticket", book);
    return `${ticket} for ${who.content.name}: ${sure.content.sure}`;
  });
}

function addResources(server) {
  server.resource("note:/static", { ...words, name: "static", mimeType: "text/plain", annotations }, () => "A note");
  server.resource("note:/bytes", { mimeType: "image/png" }, () => new Uint8Array([1, 2, 255]));
  server.resource("note:/kept", { ttlMs: 60_000, cacheScope: "public" }, () => "Kept");
  const shelf = {
    ...words,
    name: "shelf",
    complete: { title: (_typed, { author }) => (author === "verne" ? ["moon", "sea"] : ["any book"]) },
  };
  const books = new Map([["verne/die Reise", "Abfahrt"]]);
  server.resourceTemplate("shelf:/{author}/{title}", shelf, ({ author, title }) => books.get(`${author}/${title}`));
}

function addPrompts(server) {
  const asked = { topic: { title: "Topic", description: "What about", required: true }, tone: {} };
  const tones = Array.from({ length: 120 }, (_, index) => `tone ${index}`);
  const ask = { ...words, arguments: asked, complete: { topic: ["Tea", "Train", "Moon"], tone: tones } };
  server.prompt("ask", ask, ({ topic, tone = "kind" }) => `Tell me of ${topic} in a ${tone} way`);
  server.prompt("show", {}, () => Object.values(blocks).map((content) => ({ role: "user", content })));
}

function addChanges(server) {
  const lists = {
    tools: server.tool("changing", {}, () => "changing"),
    prompts: server.prompt("changing", {}, () => "changing"),
    resources: server.resource("note:/changing", {}, () => "changing"),
  };
  let changes = 0;
  server.tool("change", { inputSchema: z.object({ list: z.enum(["tools", "prompts", "resources"]) }) }, ({ list }) => {
    changes += 1;
    lists[list].update({ description: `change ${changes}` });
    return "changed";
  });
  server.tool("touch", { inputSchema: z.object({ uri: z.string() }) }, ({ uri }) => {
    server.changed.resource(uri);
    return "touched";
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await serveStdio(matrixServer());
