import { createServer, elicitForm, inputRequired, listRoots, type Server } from "@parlance/mcp/server";
import * as z from "zod";

/** The side effects of the handlers. */
export interface Effects {
  booked: number;
}

/** A server whose tools ask in every way there is. */
export function askingServer(effects: Effects = { booked: 0 }): Server {
  const server = createServer({
    name: "asking",
    version: "1",
    requestState: { secrets: ["a secret that is long enough"] },
  });
  server.tool("book", {}, async (_args, ctx) => {
    const ticket = await ctx.once("ticket", () => {
      effects.booked += 1;
      return `ticket ${effects.booked}`;
    });
    const who = await ctx.elicit("Who travels?", z.object({ name: z.string().min(2) }));
    if (who.action !== "accept") return `${ticket}: ${who.action}`;
    const sure = await ctx.elicit(`Book for ${who.content.name}?`, z.object({ sure: z.boolean() }));
    return `${ticket} for ${who.content.name}: ${sure.content?.sure === true ? "booked" : "not booked"}`;
  });
  server.tool("at_once", {}, async (_args, ctx) => {
    const { who, where } = await ctx.requestInput({
      who: elicitForm("Who?", z.object({ name: z.string() })),
      where: listRoots(),
    });
    return `${who.content?.name} in ${where[0]?.uri}`;
  });
  server.tool("returning", {}, (_args, ctx) => {
    if (ctx.inputResponses.who !== undefined)
      return `${JSON.stringify(ctx.inputResponses.who)} ${JSON.stringify(ctx.requestState)}`;
    return inputRequired({ who: elicitForm("Who?", z.object({ name: z.string() })) }, { asked: 1 });
  });
  server.tool("page", {}, async (_args, ctx) => (await ctx.elicitUrl("Log in", "https://example.com/login")).action);
  server.tool("model", {}, async (_args, ctx) => {
    const message = { role: "user", content: { type: "text", text: "Say hi" } } as const;
    const { model } = await ctx.sample({ messages: [message], maxTokens: 10 });
    return model;
  });
  server.tool("swallows", {}, async (_args, ctx) => {
    try {
      return String((await ctx.elicit("Who?", z.object({ name: z.string() }))).content?.name);
    } catch {
      return "swallowed";
    }
  });
  server.tool("fickle", {}, async (_args, ctx) => {
    const { action } = await ctx.elicit(`Is it ${Math.random()}?`, z.object({ yes: z.boolean() }));
    return action;
  });
  server.tool("endless", {}, async (_args, ctx) => {
    for (let round = 1; ; round += 1) await ctx.elicit(`Again, ${round}?`, z.object({ yes: z.boolean() }));
  });
  return server;
}

/** Answers of a person who travels. */
export function answerOf(message: string): object {
  if (message === "Who travels?" || message === "Who?") return { action: "accept", content: { name: "Ada" } };
  return { action: "accept", content: { sure: true, yes: true } };
}
