import { serveStdio } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { addBroken } from "./server/broken.js";
import { addChanging } from "./server/changing.js";
import { addCounting } from "./server/counting.js";
import { addPrompts } from "./server/prompts.js";
import { addQuestions } from "./server/questions.js";
import { addResources } from "./server/resources.js";
import { addSums } from "./server/sums.js";

// One of everything that a server can offer, for a client to play with. Started by tour.js.

const server = createServer({
  name: "sights",
  version: "1.0.0",
  instructions: "Look around. Nothing here is of consequence.",
  pageSize: 4,
  listCache: { ttlMs: 3_600_000, cacheScope: "public" },
});
addSums(server);
addCounting(server);
addQuestions(server);
addResources(server);
addPrompts(server);
addChanging(server);
addBroken(server);

await serveStdio(server);
