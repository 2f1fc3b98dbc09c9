// A server on version 1 of the official SDK, on HTTP: with sessions (and what can be taken up again), without, or as the first
// revision has it. It says on stdout where it is; what it is asked to forget, it forgets.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { InMemoryEventStore } from "@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createNotes } from "./sdk-v1-notes.js";

const transports = new Map();

const modes = {
  async stateful(request, response) {
    const known = request.headers["mcp-session-id"];
    if (known !== undefined && !transports.has(known)) return refuse(response, 404, "Session not found");
    let transport = transports.get(known);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => transports.set(id, transport),
        eventStore: new InMemoryEventStore(),
        retryInterval: 20,
      });
      await createNotes().connect(transport);
    }
    await transport.handleRequest(request, response);
  },

  async stateless(request, response) {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    await createNotes().connect(transport);
    await transport.handleRequest(request, response);
  },

  async sse(request, response, url) {
    if (url.pathname === "/messages") {
      return transports.get(url.searchParams.get("sessionId")).handlePostMessage(request, response);
    }
    if (request.method !== "GET") return refuse(response, 405, "Method not allowed");
    const transport = new SSEServerTransport("/messages", response);
    transports.set(transport.sessionId, transport);
    await createNotes().connect(transport);
  },
};

function refuse(response, status, message) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32_001, message }, id: null }));
}

const serve = modes[process.argv[2]];
const server = createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (url.pathname === "/forget") {
    transports.clear();
    response.end();
  } else {
    void serve(request, response, url);
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
