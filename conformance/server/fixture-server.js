import { createServer } from "@parlance/mcp/server";
import { addAskingTools } from "./asking-tools.js";
import { addChangingTools } from "./changing-tools.js";
import { addContentTools } from "./content-tools.js";
import { addInputRequiredTools } from "./input-required-tools.js";
import { addPrompts } from "./prompts.js";
import { addResources } from "./resources.js";
import { addTellingTools } from "./telling-tools.js";

/** Everything that the suite asks of a server, in one object for every revision. */
export function fixtureServer() {
  const server = createServer({ name: "parlance-conformance-server", version: "1.0.0" });
  addContentTools(server);
  addTellingTools(server);
  addChangingTools(server);
  addAskingTools(server);
  addInputRequiredTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}
