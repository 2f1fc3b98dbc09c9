import * as z from "zod";

/** @import { Server } from "@parlance/mcp/server" */

const uri = "sights:/board";

/** @param {Server} server */
export function addChanging(server) {
  let text = "Open today";
  server.resource(uri, { name: "board", ttlMs: 3_600_000, cacheScope: "public" }, () => text);

  const write = { description: "Writes on the board", inputSchema: z.object({ text: z.string() }) };
  server.tool("write", write, (args) => {
    ({ text } = args);
    server.changed.resource(uri);
    return "Written";
  });

  const secret = server.tool("secret_door", { description: "Not always there" }, () => "You are through");
  secret.disable();
  server.tool("knock", { description: "Opens a door" }, () => {
    secret.enable();
    return "Something opens";
  });
}
