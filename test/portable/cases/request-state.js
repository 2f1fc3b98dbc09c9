import { connect } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { equal, match, rejects } from "../check.js";
import { createSample } from "../server.js";

/** @import { Case } from "../run.js" */

const secret = "a secret of the portable suite";

/** @type {readonly Case[]} */
export const requestState = [
  {
    name: "request state: another process with the same secret continues the call",
    async run() {
      const client = await connectInTurn([{ secrets: [secret] }, { secrets: [secret] }]);
      match(await client.tools.call("book"), { content: [{ text: "1 for Ada, 36" }] });
      await client.close();
    },
  },
  {
    name: "request state: an old secret opens what a new one no longer seals",
    async run() {
      const client = await connectInTurn([{ secrets: [secret] }, { secrets: ["a newer secret, 16+", secret] }]);
      match(await client.tools.call("book"), { content: [{ text: "1 for Ada, 36" }] });
      await client.close();
    },
  },
  {
    name: "request state: a process with another secret refuses the call",
    async run() {
      const client = await connectInTurn([{ secrets: [secret] }, { secrets: ["some other secret"] }]);
      await rejects(client.tools.call("book"), { name: "RpcError", code: -32_602 });
      await client.close();
    },
  },
  {
    name: "request state: it is encrypted, runs once, and is refused when altered",
    async run() {
      const handler = httpHandler(createSample({ requestState: { secrets: [secret] } }));
      const first = await post(handler, {});
      match(first, { result: { resultType: "input_required" } });
      const { requestState, inputRequests } = first.result;
      equal(requestState.startsWith("v1."), true);
      equal(atob(requestState.slice(3).replaceAll("-", "+").replaceAll("_", "/")).includes("ticket"), false);
      const [question] = Object.keys(inputRequests);
      const inputResponses = { [`${question}`]: { action: "accept", content: { name: "Ada" } } };
      const altered = `${requestState.slice(0, -2)}${requestState.endsWith("AA") ? "BB" : "AA"}`;
      match(await post(handler, { inputResponses, requestState: altered }), { error: { code: -32_602 } });
      match(await post(handler, { inputResponses, requestState }), {
        result: { content: [{ text: "1 for Ada, 36" }] },
      });
      match(await post(handler, { inputResponses, requestState }), { error: { code: -32_602 } });
    },
  },
];

/**
 * A client whose tool calls go to two processes in turn, as behind a load balancer.
 *
 * @param {readonly [{ secrets: readonly string[] }, { secrets: readonly string[] }]} states
 */
function connectInTurn(states) {
  const handlers = states.map((requestState) => httpHandler(createSample({ requestState })));
  let turn = 0;
  /** @type {(url: string | URL | Request, init?: RequestInit) => Promise<Response>} */
  const fetch = async (url, init) => {
    const request = new Request(url, init);
    const handler = handlers[request.headers.get("mcp-method") === "tools/call" ? turn++ % 2 : 0];
    if (handler === undefined) throw new Error("there are two handlers");
    return handler(request);
  };
  const elicitation = () => ({ action: /** @type {const} */ ("accept"), content: { name: "Ada" } });
  return connect("http://localhost/mcp", { fetch, revision: "2026-07-28", handlers: { elicitation } });
}

/**
 * @param {(request: Request) => Promise<Response>} handler
 * @param {object} more
 */
async function post(handler, more) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1.0.0" },
  };
  const params = { name: "book", arguments: {}, _meta: meta, ...more };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "book",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const response = await handler(new Request("http://localhost/mcp", { method: "POST", headers, body }));
  const text = await response.text();
  return JSON.parse(/^data: ?(\{.*)$/m.exec(text)?.[1] ?? text);
}
