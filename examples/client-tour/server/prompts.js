/** @import { Server } from "@parlance/mcp/server" */

const postcard = {
  description: "Write a postcard",
  arguments: { city: { required: true }, sight: { description: "What it shows" } },
  complete: {
    city: ["Paris", "Pisa", "Rome"],
    /** @type {(typed: string, settled: Readonly<Record<string, string>>) => string[]} */
    sight: (_typed, { city }) => (city === "Rome" ? ["Colosseum"] : ["tower"]),
  },
};

/** @param {Server} server */
export function addPrompts(server) {
  server.prompt(
    "postcard",
    postcard,
    ({ city, sight = "sky" }) => `Write a postcard from ${city} that shows the ${sight}.`,
  );
}
