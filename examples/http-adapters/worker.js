import { env } from "cloudflare:workers";
import { httpHandler } from "@parlance/mcp/http";
import { createSample } from "./server.js";

// A client answers a question in another request, which another isolate may get: all of them know one secret.
const server = createSample({ requestState: { secrets: [env.STATE_SECRET] } });

export default {
  // A session would be in the memory of one isolate, and the next request in that of another.
  fetch: httpHandler(server, { allowedHosts: ["contacts.example.com"], sessions: false }),
};
