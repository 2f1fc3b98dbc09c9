import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { handshakeVersions, latest, latestHandshake } from "@parlance/mcp";
import { connectStdio } from "@parlance/mcp/node";
import { describe, expect, test } from "vitest";

// The other implementations are installed by `npm ci --prefix test/interop`; without them these tests are skipped.

const folder = join(import.meta.dirname, "programs");
const isInstalled = existsSync(join(folder, "../node_modules"));
const run = promisify(execFile);
const gitServer = [
  join(import.meta.dirname, "../../examples/git-server/server.js"),
  join(import.meta.dirname, "../.."),
];
const clientTour = join(import.meta.dirname, "../../examples/client-tour/tour.js");
const everything = join(folder, "../node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const contacts = join(import.meta.dirname, "../../examples/contacts/server.js");
const { execPath: node } = process;

const tools = ["git_status", "git_log", "git_diff", "git_show", "git_blame"];

describe.skipIf(!isInstalled)("the official SDK, installed by npm ci --prefix test/interop", () => {
  test.each([
    ["version 1", "sdk-v1-server.js", latestHandshake.version],
    ["version 2", "sdk-v2-server.js", latest.version],
  ])("our client finds out what a server on %s speaks, and speaks it", async (_name, file, version) => {
    await using client = await connectStdio({ command: node, args: [join(folder, file)] });
    expect(client.revision).toBe(version);
    expect((await client.tools.list().all()).map(({ name }) => name)).toContain("add");
    expect(await client.tools.call("add", { a: 2, b: 3 })).toMatchObject({ content: [{ type: "text", text: "5" }] });
    expect(await client.tools.call("add", { a: "2", b: 3 })).toMatchObject({ isError: true });
  });

  test("our client insists on the handshake with a server of both eras", async () => {
    const target = { command: node, args: [join(folder, "sdk-v2-server.js")] };
    await using client = await connectStdio(target, { revision: latestHandshake.version });
    expect(client.revision).toBe(latestHandshake.version);
    expect(await client.tools.call("add", { a: 2, b: 3 })).toMatchObject({ content: [{ text: "5" }] });
  });

  test.each(handshakeVersions)("our client speaks to server-everything in %s", async (revision) => {
    await using client = await connectStdio({ command: node, args: [everything, "stdio"] }, { revision });
    const names = (await client.tools.list().all()).map(({ name }) => name);
    expect(names).toContain("echo");
    expect(await client.tools.call("echo", { message: "hi" })).toMatchObject({ content: [{ text: "Echo: hi" }] });
  });

  test.each([
    ["server-everything", [everything, "stdio"], "client.prompts.get(simple.name)"],
    ["version 1", [join(folder, "sdk-v1-server.js")], "text of note:one"],
    ["version 2", [join(folder, "sdk-v2-server.js")], "text of note:one"],
  ])("the tour of our client goes through a server on %s", async (_name, args, shown) => {
    const { stdout, stderr } = await run(node, [clientTour, "--", node, ...args]);
    expect(stderr).toBe("");
    expect(stdout).toContain(shown);
    expect(stdout).toMatch(/methods of a client were used$/m);
  });

  test.each([
    ["version 1", ["sdk-v1-client.js"]],
    ["version 2, in the handshake era", ["sdk-v2-client.js", "legacy"]],
    ["version 2, as it finds our server", ["sdk-v2-client.js", "auto"]],
  ])("a client on %s speaks to our git server", async (_name, [file = "", ...mode]) => {
    const { stdout } = await run(node, [join(folder, file), ...mode, node, ...gitServer]);
    const found = JSON.parse(stdout) as Record<string, unknown>;
    expect(found).toMatchObject({
      server: { name: "git" },
      tools,
      status: { structuredContent: { branch: expect.anything() as unknown } },
      refused: { isError: true },
    });
  });

  test.each([
    ["version 1", ["sdk-v1-contacts.js"]],
    ["version 2, in the handshake era", ["sdk-v2-contacts.js", "legacy"]],
    ["version 2, as it finds our server", ["sdk-v2-contacts.js", "auto"]],
  ])("a client on %s follows an import of our contacts, and is asked before one is deleted", async (_name, script) => {
    const [file = "", ...mode] = script;
    const { stdout } = await run(node, [join(folder, file), ...mode, node, contacts]);
    const found = JSON.parse(stdout) as Record<string, unknown>;
    expect(found).toMatchObject({
      found: { structuredContent: { total: 1, contacts: [{ id: 1, name: "Ada Lovelace" }] } },
      contents: [{ uri: "contacts:/1", mimeType: "application/json" }],
      progress: expect.arrayContaining([100, 200]) as unknown,
      imported: { structuredContent: { imported: 250 } },
      asked: ["Delete Ada Lovelace (contact 1)?"],
      deleted: { structuredContent: { deleted: 1 } },
      // In the stateless era only who listens is told.
      told: mode[0] !== "auto",
    });
  });
});
