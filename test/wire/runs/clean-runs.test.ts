import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { latest, latestHandshake, versions } from "@parlance/mcp";
import { type Client, connect, type InputHandlers } from "@parlance/mcp/client";
import { connectStdio } from "@parlance/mcp/node";
import { Conversation } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { startServer } from "../../fixtures/misbehaving/running-server.js";
import { RecordingFolder } from "../recording/recording-folder.js";

const { execPath: node } = process;
const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const tour = join(root, "examples/client-tour/tour.js");

/** The examples that serve MCP, by the words that start them. (The service speaks a JSON-RPC of its own.) */
const examples = {
  "client-tour": [join(root, "examples/client-tour/server.js")],
  "git-server": [join(root, "examples/git-server/server.js"), root],
  contacts: [join(root, "examples/contacts/server.js")],
} as const;

// Programs of others are installed by `npm ci --prefix test/interop`; without it these tests are skipped.
const ofOthers = (file: string): string => join(root, "test/interop/programs", file);
const everything = ofOthers("../node_modules/@modelcontextprotocol/server-everything/dist/index.js");

/** Violations that the tour provokes: one tool breaks its own schema, to show the error of the client. */
const provoked = ["T-1 server /result/structuredContent/answer"];

/** Requests that the script around the SDK sends by hand after the session, to see that it is over. */
const probed = [
  // "If using HTTP, the client MUST include the MCP-Protocol-Version: <protocol-version> HTTP header on all subsequent
  // requests to the MCP server."
  "H-5 client ",
  // "The request ID MUST NOT have been previously used by the requestor within the same session."
  "R-4 client /id",
];

const newestOfEra: ReadonlySet<string> = new Set([latest.version, latestHandshake.version]);

describe.each(versions)("in %s", (revision) => {
  // A tour takes seconds: the git server has one in each revision, the others one in each era.
  const touring = Object.entries(examples).filter(([name]) => name === "git-server" || newestOfEra.has(revision));
  test.each(touring)("the tour through %s breaks no rule", async (name, server) => {
    using folder = new RecordingFolder();
    await run(node, [tour, "--revision", revision, "--", ...folder.tap(node, ...server)]);
    expect(broken(folder)).toEqual(name === "client-tour" && revision >= "2025-06-18" ? provoked : []);
  });

  test("the tools of the git server and the contacts break no rule on stdio", async () => {
    using folder = new RecordingFolder();
    for (const [server, use] of [
      [examples["git-server"], useGit],
      [examples.contacts, useContacts],
    ] as const) {
      const [command, ...args] = folder.tap(node, ...server);
      await using client = await connectStdio({ command, args }, { revision, handlers: answers });
      await use(client);
    }
    expect(broken(folder)).toEqual([]);
  });

  test("the tools of the git server and the contacts break no rule over HTTP", async () => {
    using folder = new RecordingFolder();
    await using server = await startServer([ofOthers("parlance-http-server.js"), root]);
    {
      await using proxy = await folder.proxy(server.url);
      await using client = await connect(proxy.url, { revision, handlers: answers });
      await useGit(client);
      await useContacts(client);
    }
    expect(broken(folder)).toEqual([]);
  });
});

const answers: InputHandlers = { elicitation: () => ({ action: "accept", content: { delete: true } }) };

async function useGit(client: Client): Promise<void> {
  await client.tools.list().all();
  await client.tools.call("git_status");
  await client.tools.call("git_log", { limit: 2 });
  await client.tools.call("git_blame", { path: "LICENSE", lastLine: 3 });
  await client.tools.call("git_show", { revision: "no such revision" });
}

async function useContacts(client: Client): Promise<void> {
  await client.tools.call("search_contacts", { query: "ada" });
  const csv = `name\n${"Somebody\n".repeat(250)}`;
  await client.tools.call("import_contacts", { csv }, { onProgress: () => undefined });
  await client.tools.call("delete_contact", { id: 1 });
}

/** Violations in the recordings of a folder, and requests that stay open. */
function broken(folder: RecordingFolder): readonly string[] {
  const recordings = folder.read();
  expect(recordings.flat().filter(({ k }) => k === "f").length).toBeGreaterThan(20);
  return recordings.flatMap((entries) => {
    const conversation = new Conversation();
    for (const entry of entries) conversation.push(entry);
    conversation.finish();
    expect(conversation.rows.flatMap(({ unjudged }) => unjudged ?? [])).toEqual([]);
    const verdicts = conversation.verdicts.filter(({ level }) => level === "must");
    const waiting = conversation.pending().filter(({ over }) => !over);
    return [
      ...verdicts.map(({ rule, party, pointer = "" }) => `${rule.id} ${party} ${pointer}`),
      ...waiting.map(({ operation, reason }) => `${operation.request.method ?? ""}: ${reason}`),
    ];
  });
}

describe.skipIf(!existsSync(everything))("the official SDK, installed by npm ci --prefix test/interop", () => {
  test.each(["sdk-v1-everything.js", "sdk-v2-everything.js"])(
    "what %s and server-everything say breaks no rule",
    async (client) => {
      using folder = new RecordingFolder();
      const { stdout } = await run(node, [ofOthers(client), ...folder.tap(node, everything, "stdio")]);
      expect(JSON.parse(stdout)).toMatchObject({ called: expect.arrayContaining(["get-sum"]) as unknown });
      expect(broken(folder)).toEqual([]);
    },
  );

  test.each(["sdk-v1-server.js", "sdk-v2-server.js"])("what our tour and %s say breaks no rule", async (server) => {
    using folder = new RecordingFolder();
    await run(node, [tour, "--", ...folder.tap(node, ofOthers(server))]);
    expect(broken(folder)).toEqual([]);
  });

  test.each([
    ["version 1", ["sdk-v1-http-client.js"], probed],
    ["version 2, in the handshake era", ["sdk-v2-http-client.js", "legacy"], probed],
    ["version 2, as it finds our server", ["sdk-v2-http-client.js", "auto"], []],
  ])("what a client on %s and our server say over HTTP breaks no rule", async (_name, script, expected) => {
    const [client = "", ...mode] = script;
    using folder = new RecordingFolder();
    await using server = await startServer([ofOthers("parlance-http-server.js"), root]);
    {
      await using proxy = await folder.proxy(server.url);
      await run(node, [ofOthers(client), proxy.url, ...mode]);
    }
    expect(broken(folder)).toEqual(expected);
  });
});
