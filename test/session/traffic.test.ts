import { type Client, connect } from "@parlance/mcp/client";
import { memoryChannels, tapChannel } from "@parlance/mcp/jsonrpc";
import { createServer, type Server, serveChannel, ToolError } from "@parlance/mcp/server";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { errorOf } from "../client/session/openings.js";
import { hasSchemas, problems } from "../protocol/revisions/published.js";
import { type Frame, initialize, modern, parse, request, stateless } from "../testing/frames.js";
import { conversationWith, talkTo, turn } from "../testing/talks.js";

// Everything that our own two sides say to each other, held against the published schemas.

const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

const icons = [{ src: "data:image/png;base64,AA==", mimeType: "image/png", sizes: ["48x48"], theme: "dark" as const }];

/** A server that says everything that there is to say of it and of its tools. */
function talkative(): Server {
  const server = createServer({
    name: "talkative",
    title: "Talkative",
    version: "1.0.0",
    description: "Says a lot",
    websiteUrl: "https://example.com",
    icons,
    instructions: "Listen.",
  });
  const words = {
    title: "A tool",
    description: "Does things",
    icons,
    annotations: { readOnlyHint: true },
    _meta: { "example.com/x": 1 },
  };
  server.tool("all", { ...words, inputSchema: z.object({ a: z.number().optional() }) }, (_args, context) => {
    void context.progress(0.5, 1, "half");
    void context.progress(1);
    context.log("debug", { some: "thing" }, "logger");
    return [
      { type: "text", text: "words", annotations: { audience: ["user"], priority: 1 }, _meta: { "example.com/y": 2 } },
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "audio", data: "AA==", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a", icons },
      { type: "resource", resource: { uri: "file:///a", text: "a" } },
    ];
  });
  server.tool("structured", { outputSchema: z.object({ n: z.number() }) }, () => ({ n: 1 }));
  server.tool("list", { outputSchema: z.array(z.number()) }, () => [1]);
  server.tool("silent", {}, () => undefined);
  server.tool("fails", {}, () => {
    throw new ToolError("cannot");
  });
  server.tool("breaks", {}, () => {
    throw new Error("bug");
  });
  server.tool(
    "waits",
    {},
    (_args, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("late"))),
  );
  return server;
}

/** A whole conversation of our client with our server: what each has sent. */
async function converse(
  revision: string,
): Promise<{ readonly client: readonly Frame[]; readonly server: readonly Frame[] }> {
  const frames = { client: [] as Frame[], server: [] as Frame[] };
  const [near, far] = memoryChannels();
  const served = serveChannel(talkative(), far);
  const tapped = tapChannel(near, (each) => {
    if (each.kind === "sent") frames.client.push(parse(each.frame));
    if (each.kind === "received") frames.server.push(parse(each.frame));
  });
  const client = await connect(tapped, { revision, info: { name: "me", title: "Me", version: "1", icons } });
  await speak(client);
  await turn();
  assertNoLeaks(client.connection);
  assertNoLeaks(served);
  await client.close();
  await served.closed;
  return frames;
}

async function speak(client: Client): Promise<void> {
  if (client.revision !== modern) {
    await client.call("ping");
    await client.call("logging/setLevel", { level: "debug" });
  }
  await client.tools.list().all();
  const meta = client.revision === modern ? { _meta: { "io.modelcontextprotocol/logLevel": "debug" } } : {};
  await client.call("tools/call", { name: "all", arguments: {}, ...meta }, { notify: () => undefined });
  for (const name of ["all", "structured", "list", "silent", "fails"]) await client.tools.call(name);
  await client.tools.call("all", { a: "one" });
  await errorOf(client.tools.call("breaks"));
  await errorOf(client.tools.call("no such tool"));
  await errorOf(client.call("no/such"));
  await errorOf(client.call("tools/list", { cursor: "x" }));
  const user = new AbortController();
  const waits = errorOf(client.tools.call("waits", {}, { signal: user.signal }));
  await turn();
  user.abort(new Error("enough"));
  await waits;
}

const requestTypes: Readonly<Record<string, string>> = {
  initialize: "InitializeRequest",
  ping: "PingRequest",
  "logging/setLevel": "SetLevelRequest",
  "server/discover": "DiscoverRequest",
  "tools/list": "ListToolsRequest",
  "tools/call": "CallToolRequest",
};

const resultTypes: Readonly<Record<string, string>> = {
  initialize: "InitializeResult",
  ping: "EmptyResult",
  "logging/setLevel": "EmptyResult",
  "server/discover": "DiscoverResult",
  "tools/list": "ListToolsResult",
  "tools/call": "CallToolResult",
};

const notificationTypes: Readonly<Record<string, string>> = {
  "notifications/initialized": "InitializedNotification",
  "notifications/cancelled": "CancelledNotification",
  "notifications/progress": "ProgressNotification",
  "notifications/message": "LoggingMessageNotification",
};

/** How the error that answers a request is called in a revision. */
function errorType(revision: string): string {
  return revision < "2025-11-25" ? "JSONRPCError" : "JSONRPCErrorResponse";
}

describe.skipIf(!hasSchemas)("by the published schemas, where ../shared/schemas has them,", () => {
  test.each(revisions)("what our client sends in %s is valid, and is all there", async (revision) => {
    const { client } = await converse(revision);
    const known = client.filter(({ method = "" }) => method !== "no/such");
    const types = known.map(
      ({ id, method = "" }) => (id === undefined ? notificationTypes : requestTypes)[method] ?? method,
    );
    const opening =
      revision === modern
        ? ["DiscoverRequest"]
        : ["InitializeRequest", "InitializedNotification", "PingRequest", "SetLevelRequest"];
    expect(new Set(types)).toEqual(
      new Set([...opening, "ListToolsRequest", "CallToolRequest", "CancelledNotification"]),
    );
    for (const [index, frame] of known.entries()) {
      expect([frame, problems(revision, types[index] ?? "", frame)]).toEqual([frame, []]);
    }
  });

  test.each(revisions)("what our server sends in %s is valid, and is all there", async (revision) => {
    const { client, server } = await converse(revision);
    const methodOf = new Map(client.map(({ id, method = "" }) => [id, method]));
    const typed = server.map((frame): [string, unknown] => {
      if (frame.method !== undefined) return [notificationTypes[frame.method] ?? frame.method, frame];
      if (frame.error !== undefined) return [errorType(revision), frame];
      return [resultTypes[methodOf.get(frame.id) ?? ""] ?? "unasked", frame.result];
    });
    const opening = revision === modern ? ["DiscoverResult"] : ["InitializeResult", "EmptyResult"];
    const rest = [
      "ListToolsResult",
      "CallToolResult",
      "ProgressNotification",
      "LoggingMessageNotification",
      errorType(revision),
    ];
    expect(new Set(typed.map(([type]) => type))).toEqual(new Set([...opening, ...rest]));
    for (const [type, value] of typed) expect([value, problems(revision, type, value)]).toEqual([value, []]);
  });

  test.each(revisions.filter((revision) => revision !== modern))(
    "refusals in %s are valid errors",
    async (revision) => {
      await using talk = talkTo(talkative());
      const refusals = [
        await talk.ask(request(1, "tools/list")),
        await talk.ask(request(2, "initialize", {})),
        await talk.ask('{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}'),
        await talk.ask(initialize(revision, 4)).then(() => talk.ask(request(5, "no/such"))),
      ];
      for (const frame of refusals)
        expect([frame, problems(revision, errorType(revision), parse(frame))]).toEqual([frame, []]);
    },
  );

  test("refusals of the stateless era are the errors that it names", async () => {
    await using talk = await conversationWith(talkative(), "2025-11-25");
    const version = "io.modelcontextprotocol/protocolVersion";
    for (const [type, frame] of [
      ["UnsupportedProtocolVersionError", await talk.ask(stateless(1, "tools/list", {}, { [version]: "1.0.0" }))],
      ["JSONRPCErrorResponse", await talk.ask(stateless(2, "ping"))],
      ["JSONRPCErrorResponse", await talk.ask(request(3, "server/discover"))],
      ["JSONRPCErrorResponse", await talk.ask("no JSON")],
      ["JSONRPCErrorResponse", await talk.ask("[]")],
    ] as const) {
      expect([frame, problems(modern, type, parse(frame))]).toEqual([frame, []]);
    }
  });
});
