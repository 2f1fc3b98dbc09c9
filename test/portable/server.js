import { createServer, ToolError } from "@parlance/mcp/server";
import * as z from "zod";
import { deferred } from "./check.js";

/** @import { ServerOptions } from "@parlance/mcp/server" */

/**
 * The server of every case: one definition for each feature of the protocol.
 *
 * @param {Pick<ServerOptions, "requestState">} [options]
 */
export function createSample(options) {
  const server = createServer({ name: "sample", version: "1.0.0", pageSize: 4, ...options });
  const numbers = {
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  };
  server.tool("add", numbers, ({ a, b }) => ({ sum: a + b }));
  server.tool("fail", {}, () => {
    throw new ToolError("It rains");
  });
  server.tool("picture", {}, () => ({ type: "image", mimeType: "image/png", data: new Uint8Array([1, 2, 255]) }));
  server.tool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => text);

  server.tool("book", {}, async (_args, ctx) => {
    const ticket = await ctx.once("ticket", () => crypto.randomUUID());
    const who = await ctx.elicit("Who travels?", z.object({ name: z.string(), seats: z.number().default(1) }));
    if (who.action !== "accept") return "Nobody travels";
    return `${who.content.seats} for ${who.content.name}, ${ticket.length}`;
  });
  server.tool("summarize", {}, async (_args, ctx) => {
    const messages = [
      { role: /** @type {const} */ ("user"), content: { type: /** @type {const} */ ("text"), text: "?" } },
    ];
    const { model } = await ctx.sample({ messages, maxTokens: 10 });
    return `By ${model}`;
  });
  server.tool("folders", {}, async (_args, ctx) => (await ctx.listRoots()).map(({ uri }) => uri).join());
  server.tool("steps", {}, async (_args, ctx) => {
    ctx.log("warning", { step: 1 });
    await ctx.progress(1, 2, "half");
    await ctx.progress(2, 2, "done");
    return "Done";
  });

  /** @type {ReturnType<typeof deferred<string>>} */
  const aborted = deferred();
  server.tool("wait", {}, async (_args, ctx) => {
    const ended = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    await ctx.progress(0);
    await ended;
    aborted.resolve("The signal of wait was aborted");
    return "Too late";
  });
  server.tool("aborted", {}, () => aborted.promise);

  server.resource("board:today", { name: "today", mimeType: "text/plain" }, () => "Train 7 is late — ünïque 🚂");
  server.resource("board:bytes", { name: "bytes" }, () => new Uint8Array([0, 128, 255]));
  server.resourceTemplate("board:/{day}", { name: "day", complete: { day: ["monday", "tuesday"] } }, ({ day }) =>
    day === "never" ? undefined : `It is ${day}`,
  );
  const languages = { language: { required: true } };
  const review = { arguments: languages, complete: { language: ["Rust", "TypeScript"] } };
  server.prompt("review", review, ({ language }) => `Review this ${language}`);
  server.tool("publish", {}, () => {
    server.changed.resource("board:today");
    server.changed.list("prompts");
    return "Published";
  });
  return server;
}
