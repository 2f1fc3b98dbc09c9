import { existsSync } from "node:fs";
import { Conversation } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { RecordingFolder } from "../recording/recording-folder.js";
import { everything, freePorts, runOther, startOther, type Typed, type Words } from "./example-processes.js";

// Servers and clients of others as they are, with the proxy between them: nothing is said of them but what is true. All of
// them are fetched by `npm ci --prefix test/interop`; without it these tests are skipped.

/** The calls of the clients on both versions of the SDK to any server. */
const v1: Words = ["sdk-v1-explorer.js", "URL"];
const v1Sse: Words = ["sdk-v1-explorer.js", "URL", "sse"];
const v2: Words = ["sdk-v2-explorer.js", "URL", "legacy"];
const v2Auto: Words = ["sdk-v2-explorer.js", "URL", "auto"];

interface Run {
  readonly name: string;
  readonly server: Words;
  /** Default: /mcp. */
  readonly path?: string;
  /** At the same time. */
  readonly clients: readonly Words[];
  /** The input of a person to the interactive client. */
  readonly typed?: Typed;
  /** All that is true of it, each with the sentence that says so. */
  readonly found?: readonly string[];
}

// "A standard URI pointing to an icon resource." (the schema of Icon, whose src has the format uri): "./mcp.svg" is none.
const icon = "must M-6 server /result/serverInfo/icons/0/src";
// "The server that responds with an unsupported version … MUST respond with another protocol version it supports": a note
// about a server that does so.
const otherVersion = "may L-9 server /result/protocolVersion";
// Our clients ask for a tool that is not there: "Clients … tools/list" is how they would know.
const unknownTool = "may T-6 client /params/name";
// "id?: RequestId" (the schema of JSONRPCErrorResponse since 2025-11-25), where the SDK writes null.
const nullId = "may R-13 server /id";
// "Unknown tools" are protocol errors, for which the specification shows -32602; this example gives -32603.
const internalError = "should T-9 server /error/code";

const runs: readonly Run[] = [
  {
    name: "JSON responses with sessions",
    server: ["example:server/jsonResponseStreamableHttp.js"],
    clients: [v1, v2, v2Auto],
    found: [unknownTool],
  },
  {
    name: "event streams without sessions",
    server: ["example:server/simpleStatelessStreamableHttp.js"],
    clients: [v1, v2, v2Auto],
    found: [nullId, unknownTool],
  },
  {
    name: "a stream of a GET",
    server: ["example:server/standaloneSseWithGetStreamableHttp.js"],
    clients: [v1, v2, v2Auto],
  },
  {
    name: "both transports, over the newer one",
    server: ["example:server/sseAndStreamableHttpCompatibleServer.js"],
    clients: [v1, v2Auto, ["example:client/streamableHttpWithSseFallbackClient.js", "URL"]],
    found: [unknownTool],
  },
  {
    name: "both transports, over the older one",
    server: ["example:server/sseAndStreamableHttpCompatibleServer.js"],
    path: "/sse",
    clients: [v1Sse, ["example:client/streamableHttpWithSseFallbackClient.js", "URL"]],
    found: [unknownTool],
  },
  {
    name: "the transport of the first revision",
    server: ["example:server/simpleSseServer.js"],
    clients: [v1Sse, v1Sse, ["example:client/streamableHttpWithSseFallbackClient.js", "URL"]],
    found: [unknownTool],
  },
  {
    name: "everything of the SDK's largest example",
    server: ["example:server/simpleStreamableHttp.js"],
    clients: [
      v1,
      v2,
      v2Auto,
      ["example:client/multipleClientsParallel.js", "URL"],
      ["example:client/parallelToolCallsClient.js", "URL"],
    ],
    found: [icon, unknownTool],
  },
  {
    name: "the SDK's largest client",
    server: ["example:server/simpleStreamableHttp.js"],
    clients: [["example:client/simpleStreamableHttp.js"]],
    typed: [
      "list-tools",
      "greet Ada",
      'call-tool greet {"name":"Bob"}',
      "list-prompts",
      'get-prompt greeting-template {"name":"Ada"}',
      "list-resources",
      "read-resource https://example.com/greetings/default",
      ["start-notifications 5 3", "Tool result"],
      ["terminate-session", "Transport closed after session termination"],
      ["reconnect", "Connected to MCP server"],
      ["list-tools", "Available tools"],
      "quit",
    ],
    found: [icon],
  },
  {
    name: "tasks that ask",
    server: ["example:server/simpleTaskInteractive.js"],
    clients: [["example:client/simpleTaskInteractiveClient.js", "--url", "URL"]],
    typed: ["y"],
  },
  {
    name: "tools that run only as tasks",
    server: ["example:server/simpleTaskInteractive.js"],
    clients: [v1, v2],
    found: [unknownTool, internalError],
  },
  {
    name: "a stream that is left and resumed",
    server: ["example:server/ssePollingExample.js"],
    clients: [v1, v2, ["example:client/ssePollingClient.js"]],
    found: [unknownTool],
  },
  {
    name: "the web standard transport",
    server: ["example:server/honoWebStandardStreamableHttp.js"],
    clients: [v1, v2Auto],
    found: [unknownTool],
  },
  {
    name: "elicitation",
    server: ["example:server/elicitationFormExample.js"],
    clients: [v1, v2Auto],
    found: [unknownTool],
  },
  {
    name: "server-everything",
    server: ["../node_modules/@modelcontextprotocol/server-everything/dist/index.js", "streamableHttp"],
    clients: [v1, v2Auto],
    found: [unknownTool],
  },
  {
    name: "server-everything over the older transport",
    server: ["../node_modules/@modelcontextprotocol/server-everything/dist/index.js", "sse"],
    path: "/sse",
    clients: [v1Sse],
    found: [unknownTool],
  },
  {
    name: "version 1 with sessions",
    server: ["sdk-v1-http-server.js", "stateful"],
    clients: [v1, v2],
    found: [unknownTool],
  },
  {
    name: "version 1 without sessions",
    server: ["sdk-v1-http-server.js", "stateless"],
    clients: [v1, v2],
    found: [unknownTool],
  },
  {
    name: "version 2, both eras",
    server: ["sdk-v2-http-server.js"],
    clients: [v1, v2, v2Auto, v2Auto],
    found: [nullId, unknownTool],
  },
  {
    name: "tmcp, both eras",
    server: ["tmcp-http-server.js"],
    clients: [v1, v2, v2Auto],
    found: [otherVersion, unknownTool],
  },
  {
    name: "mcp-lite with sessions",
    server: ["mcp-lite-http-server.js"],
    clients: [v1, v2, v2Auto],
    found: [otherVersion, unknownTool],
  },
  {
    name: "mcp-lite without sessions",
    server: ["mcp-lite-http-server.js", "stateless"],
    clients: [v1, v2, v2Auto],
    found: [otherVersion, unknownTool],
  },
];

describe
  .skipIf(!existsSync(everything))
  .concurrent("over HTTP, with what npm ci --prefix test/interop installs,", () => {
    test.each(runs)("$name", async ({ server, path, clients, typed = [], found = [] }) => {
      using folder = new RecordingFolder();
      await using running = await startOther(server, path);
      {
        await using proxy = await folder.proxy(running.url);
        await Promise.all(
          clients.map(([file, ...args]) =>
            runOther(
              [file, ...args.map((word) => (word === "URL" ? proxy.url : word))],
              { SERVER_URL: proxy.url },
              typed,
            ),
          ),
        );
      }
      expect(seen(folder)).toEqual(found.toSorted());
    });

    test("a server that requires a token, and its authorization server", async () => {
      const [port = 0, authorization = 0] = await freePorts(2);
      const env = { MCP_PORT: String(port), MCP_AUTH_PORT: String(authorization) };
      using folder = new RecordingFolder();
      await using running = await startOther(["example:server/simpleStreamableHttp.js", "--oauth"], "/mcp", env);
      {
        await using proxy = await folder.proxy(running.url);
        expect(await runOther(["sdk-v1-oauth-client.js", proxy.url])).toContain('"authorized":true');
      }
      expect(folder.text).toContain('"status":401');
      expect(seen(folder)).toEqual([unknownTool, icon]);
    });
  });

/** All that is said of the recordings of a folder, each once, and what of it waits without an end. */
function seen(folder: RecordingFolder): readonly string[] {
  const recordings = folder.read();
  expect(recordings.flat().filter(({ k }) => k === "f").length).toBeGreaterThan(10);
  const all = recordings.flatMap((entries) => {
    const conversation = new Conversation();
    for (const entry of entries) conversation.push(entry);
    conversation.finish();
    expect(conversation.rows.flatMap(({ unjudged }) => unjudged ?? [])).toEqual([]);
    const waiting = conversation.pending().filter(({ over }) => !over);
    return [
      ...conversation.verdicts
        .filter(({ rule }) => !ofPace.has(rule.id))
        .map(({ level, rule, party, pointer, header = "" }) => `${level} ${rule.id} ${party} ${pointer ?? header}`),
      ...waiting.map(({ operation, reason }) => `${operation.request.method ?? ""}: ${reason}`),
    ];
  });
  return [...new Set(all)].toSorted();
}

/** How long an answer takes, compared with others, is a matter of the machine. */
const ofPace: ReadonlySet<string> = new Set(["I-6"]);
