import * as z from "zod";

/** @import { Server } from "@parlance/mcp/server" */

const Guest = z.object({ name: z.string(), seats: z.int().min(1).max(9).default(1) });

/** @param {Server} server */
export function addQuestions(server) {
  server.tool("book", { description: "Books seats; asks a person for whom" }, async (_args, context) => {
    const guest = await context.elicit("Who travels?", Guest);
    return guest.action === "accept" ? `${guest.content.seats} for ${guest.content.name}` : "Nobody travels";
  });

  server.tool("pay", { description: "Sends a person to a page to pay" }, async (_args, context) => {
    const { action } = await context.elicitUrl("Pay for your seats", "https://pay.example/4711");
    return action === "accept" ? "On their way to pay" : "Not paid";
  });

  server.tool("rhyme", { description: "Lets the model of the client make a rhyme" }, async (_args, context) => {
    const content = { type: /** @type {const} */ ("text"), text: "What rhymes with sea?" };
    const { content: answer } = await context.sample({ messages: [{ role: "user", content }], maxTokens: 20 });
    return Array.isArray(answer) ? answer : [answer];
  });

  server.tool("where", { description: "Says where it may work" }, async (_args, context) => {
    const roots = await context.listRoots();
    return roots.map(({ uri }) => uri).join(" ");
  });
}
