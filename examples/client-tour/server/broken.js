/** @import { Server } from "@parlance/mcp/server" */

/**
 * A tool that promises a number and gives a word. No server of this library would let it: what it returns is checked
 * against its schema. So a middleware, which may answer anything, answers in its place.
 *
 * @param {Server} server
 */
export function addBroken(server) {
  const outputSchema = { type: "object", properties: { answer: { type: "number" } } };
  server.tool("liar", { description: "Does not keep to its outputSchema", outputSchema }, () => ({ answer: 42 }));
  server.use((next) => (method, params, operation) => {
    if (method !== "tools/call" || params.name !== "liar") return next(method, params, operation);
    return { content: [], structuredContent: { answer: "forty-two" } };
  });
}
