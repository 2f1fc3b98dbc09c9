import { PassThrough } from "node:stream";
import { connect } from "@parlance/mcp/client";
import { httpHandler } from "@parlance/mcp/http";
import { openConnection } from "@parlance/mcp/jsonrpc";
import { nodeHandler, serveHttp, streamChannel } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";

// In JavaScript, and where a program casts, no compiler checks the options: environment variables are strings, and a list of one is written as a string.

const server = createServer({ name: "s", version: "1" });
const channel = () => streamChannel(new PassThrough(), new PassThrough());
const given = (options: object): never => options as never;

test.each<[what: string, run: () => unknown, message: string]>([
  [
    "a text for true",
    () => serveHttp(server, given({ port: 0, exposed: "false" })),
    'serveHttp: exposed: expected a boolean, got "false": a text is always true, so write value === "true"',
  ],
  [
    "a text for a number",
    () => serveHttp(server, given({ port: 0, maxConnections: "100" })),
    'serveHttp: maxConnections: expected a number, got "100": write Number(value)',
  ],
  [
    "a text for a list of them",
    () => nodeHandler(server, given({ allowedHosts: "mcp.example.com" })),
    'nodeHandler: allowedHosts: expected an array of strings, got "mcp.example.com": write ["mcp.example.com"]',
  ],
  [
    "a list with something else in it",
    () => httpHandler(server, given({ allowedOrigins: ["https://a.example", 5] })),
    "httpHandler: allowedOrigins: expected an array of strings, got an array with a number",
  ],
  [
    "a value for a function",
    () => httpHandler(server, given({ addressOf: "x-forwarded-for" })),
    'httpHandler: addressOf: expected a function, got "x-forwarded-for"',
  ],
  [
    "a function for an object",
    () => openConnection(channel(), given({ limits: () => 5 })),
    "openConnection: limits: expected an object, got a function",
  ],
  [
    "null for nothing",
    () => connect(server, given({ timeout: null })),
    "connect: timeout: expected a number, got null: leave it out, or write undefined",
  ],
  [
    "what is no number",
    () => openConnection(channel(), given({ timeout: Number("a minute") })),
    "openConnection: timeout: expected a number, got NaN",
  ],
  [
    "a long text",
    () => server.tool("t", given({ annotations: { readOnlyHint: "x".repeat(100) } }), () => ""),
    `readOnlyHint: expected a boolean, got "${"x".repeat(40)}…"`,
  ],
])("B10: an option of another kind is refused where it is given: %s", async (_what, run, message) => {
  await expect(async () => run()).rejects.toThrow(message);
});

test.each([0, -1])("B10: a keep-alive every %s ms is refused, and Infinity is none", (keepAlive) => {
  expect(() => nodeHandler(server, { keepAlive })).toThrow(`keepAlive must be above 0 ms, got ${keepAlive}: Infinity`);
  expect(() => nodeHandler(server, { keepAlive: Number.POSITIVE_INFINITY })).not.toThrow();
});

test("B10: undefined is as if it were left out", () => {
  const handler = nodeHandler(server, given({ allowedHosts: undefined, addressOf: undefined, keepAlive: undefined }));
  handler.close();
});
