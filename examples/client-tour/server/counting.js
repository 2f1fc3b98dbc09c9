import * as z from "zod";

/** @import { Server } from "@parlance/mcp/server" */

const words = ["one", "two", "three"];

/** @type {{ readonly taskSupport: "optional" }} */
const execution = { taskSupport: "optional" };

/** @param {Server} server */
export function addCounting(server) {
  let cancelled = 0;

  const count = { description: "Counts to three, and tells how far it is", execution };
  server.tool("count", count, (_args, context) => {
    for (const [index, word] of words.entries()) context.progress(index + 1, words.length, word);
    return "Counted";
  });

  server.tool("log", { description: "Has something to say, more and less severe" }, (_args, context) => {
    context.log("info", "All is well", "weather");
    context.log("warning", "A storm is coming", "weather");
    return "Logged";
  });

  server.tool("wait", { description: "Has no end: cancel it", execution }, async (_args, context) => {
    context.signal.addEventListener("abort", () => {
      cancelled += 1;
    });
    context.progress(1, undefined, "waiting");
    await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    return "This is not read";
  });

  const waits = {
    description: "How many calls of wait were cancelled",
    outputSchema: z.object({ cancelled: z.int() }),
  };
  server.tool("waits", waits, () => ({ cancelled }));
}
