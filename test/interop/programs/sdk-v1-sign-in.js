// A server on version 1 of the official SDK, on stdio: its tool requires a sign-in at a URL, which is completed a moment later.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";

const server = new McpServer({ name: "bank", version: "1.0.0" });
let isSignedIn = false;

server.registerTool("balance", {}, () => {
  if (isSignedIn) return { content: [{ type: "text", text: "42" }] };
  const elicitationId = "sign-in";
  const notify = server.server.createElicitationCompletionNotifier(elicitationId);
  setTimeout(() => {
    isSignedIn = true;
    void notify();
  }, 100);
  const url = "https://bank.example/in";
  throw new UrlElicitationRequiredError([{ mode: "url", message: "Sign in", url, elicitationId }]);
});

await server.connect(new StdioServerTransport());
