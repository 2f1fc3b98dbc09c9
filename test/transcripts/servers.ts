import { createServer, elicitForm, listRoots, type Server, ToolError } from "@parlance/mcp/server";
import * as z from "zod";

/** The servers of the transcripts, by the name that a file gives. */
export const servers: Readonly<Record<string, () => Server>> = {
  greeter() {
    const server = createServer({ name: "greeter", version: "1.0.0", instructions: "Greet people" });
    server.tool(
      "greet",
      {
        description: "Greet somebody",
        inputSchema: z.object({ name: z.string(), times: z.number().int().default(1) }),
      },
      ({ name, times }) => Array.from({ length: times }, () => `Hello, ${name}.`).join(" "),
    );
    server.tool("refuse", { description: "Fail in words" }, () => {
      throw new ToolError("I would rather not");
    });
    return server;
  },
  adder() {
    const server = createServer({ name: "adder", version: "1.0.0" });
    const numbers = z.object({ a: z.number(), b: z.number() });
    server.tool("add", { inputSchema: numbers, outputSchema: z.object({ sum: z.number() }) }, ({ a, b }) => ({
      sum: a + b,
    }));
    return server;
  },
  counter() {
    const server = createServer({ name: "counter", version: "1.0.0" });
    server.tool("count", { inputSchema: z.object({ to: z.number() }) }, ({ to }, ctx) => {
      for (let at = 1; at <= to; at += 1) void ctx.progress(at, to, `at ${at}`);
      ctx.log("warning", { counted: to }, "counter");
      return `counted to ${to}`;
    });
    return server;
  },
  library() {
    const server = createServer({ name: "library", version: "1.0.0" });
    const rules = { name: "rules", mimeType: "text/plain" };
    let words = "Silence!";
    server.resource("library:/rules", rules, () => words);
    server.resource("library:/seal", { name: "seal", mimeType: "image/png" }, () => Uint8Array.of(137, 80, 78, 71));
    const books = new Map([["verne/moon.txt", "They went to the moon."]]);
    const shelf = { name: "book", mimeType: "text/plain" };
    server.resourceTemplate("library:/books/{author}/{title}", shelf, ({ author, title }) =>
      books.get(`${author}/${title}`),
    );
    server.tool("forbid", { inputSchema: z.object({ what: z.string() }) }, ({ what }) => {
      words += ` No ${what}!`;
      server.changed.resource("library:/rules");
      return "It is forbidden";
    });
    server.tool("open_archive", {}, () => {
      server.resource("library:/archive", { name: "archive" }, () => "Dust");
      return "It is open";
    });
    return server;
  },
  reviews() {
    const server = createServer({ name: "reviews", version: "1.0.0" });
    const review = {
      description: "Review a piece of code",
      arguments: { language: { required: true }, tone: { description: "Kind, if you leave it out" } },
    } as const;
    server.prompt("review", review, ({ language, tone = "kind" }) => `Review this ${language} in a ${tone} way.`);
    return server;
  },
  completer() {
    const server = createServer({ name: "completer", version: "1.0.0" });
    const review = {
      arguments: { language: { required: true }, tone: {} },
      complete: {
        language: ["Python", "Rust", "TypeScript"],
        tone: (_typed: string, { language }: Readonly<Record<string, string>>) =>
          language === "Rust" ? ["fearless"] : ["kind", "stern"],
      },
    } as const;
    server.prompt("review", review, ({ language }) => `Review this ${language}.`);
    const authors = { complete: { author: ["shelley", "stoker", "verne"] } };
    server.resourceTemplate("library:/books/{author}/{title}", authors, () => "A book");
    return server;
  },
  pages() {
    const server = createServer({ name: "pages", version: "1.0.0", pageSize: 2 });
    for (const name of ["one", "two", "three"]) server.tool(name, {}, () => name);
    return server;
  },
  gallery() {
    const server = createServer({ name: "gallery", title: "The gallery", version: "1.0.0" });
    const birds = {
      title: "Birds",
      annotations: { readOnlyHint: true },
      icons: [{ src: "https://example.com/bird.png" }],
    };
    server.tool("birds", birds, () => [
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", uri: "gallery:/robin", name: "robin", title: "A robin" },
    ]);
    return server;
  },
  patient() {
    const server = createServer({ name: "patient", version: "1.0.0" });
    // Answers when it is cancelled, which nobody may hear.
    const wait = (signal: AbortSignal): Promise<string> =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve("at last")));
    server.tool("wait", {}, (_args, { signal }) => wait(signal));
    return server;
  },
  curious() {
    const server = createServer({ name: "curious", version: "1.0.0" });
    server.tool("travel", {}, async (_args, ctx) => {
      const who = await ctx.elicit("Who travels?", z.object({ name: z.string().min(2) }));
      return who.action === "accept" ? `A ticket for ${who.content.name}` : `No ticket: ${who.action}`;
    });
    server.tool(
      "log_in",
      {},
      async (_args, ctx) => (await ctx.elicitUrl("Log in", "https://example.com/login")).action,
    );
    server.tool("think", {}, async (_args, ctx) => {
      const message = { role: "user", content: { type: "text", text: "Say hi" } } as const;
      const { content } = await ctx.sample({ messages: [message], maxTokens: 10 });
      return JSON.stringify(content);
    });
    server.tool("look", {}, async (_args, ctx) => (await ctx.listRoots()).map(({ uri }) => uri).join(" "));
    server.tool("both", {}, async (_args, ctx) => {
      const { who, where } = await ctx.requestInput({
        who: elicitForm("Who?", z.object({ name: z.string() })),
        where: listRoots(),
      });
      return `${who.content?.name} in ${where[0]?.uri}`;
    });
    return server;
  },
  baker() {
    const server = createServer({ name: "baker", version: "1.0.0", tasks: { ttl: 60_000 } });
    server.tool("bake", { execution: { taskSupport: "optional" } }, () => "A loaf of bread");
    return server;
  },
};
