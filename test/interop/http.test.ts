import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { inForm } from "../testing/forms.js";

// Clients on HTTP of the official SDK, which `npm ci --prefix test/interop` installs; without them these tests are skipped.

const folder = join(import.meta.dirname, "programs");
const isInstalled = existsSync(join(folder, "../node_modules"));
const run = promisify(execFile);
const { execPath: node } = process;

interface Running extends AsyncDisposable {
  readonly url: string;
}

async function startServer(): Promise<Running> {
  const child = spawn(node, [join(folder, "parlance-http-server.js"), join(import.meta.dirname, "../..")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    url,
    async [Symbol.asyncDispose]() {
      const exit = once(child, "exit");
      child.kill();
      await exit;
    },
  };
}

describe.skipIf(!isInstalled)("the official SDK, installed by npm ci --prefix test/interop", () => {
  const clients: readonly (readonly [name: string, session: string, script: readonly [string, ...string[]]])[] = [
    ["version 1", "session", ["sdk-v1-http-client.js"]],
    ["version 2, as it finds our server", "none", ["sdk-v2-http-client.js", "auto"]],
    ["version 2, in the handshake era", "session", ["sdk-v2-http-client.js", "legacy"]],
  ];

  // The short form has one client of each version, and so of each era.
  test.each(inForm({ long: clients, short: clients.slice(0, 2) }))(
    "a client on %s does all there is to do over HTTP",
    { timeout: 60_000 },
    async (_name, kind, script) => {
      await using server = await startServer();
      const [file, ...mode] = script;
      const { stdout, stderr } = await run(node, [join(folder, file), server.url, ...mode]);
      expect(stderr).toBe("");
      const found = JSON.parse(stdout) as Record<string, unknown>;
      expect(found).toMatchObject({
        names: expect.arrayContaining(["search_contacts", "git_blame", "let_go"]) as unknown,
        status: { structuredContent: { branch: expect.anything() as unknown } },
        refused: { isError: true },
        contents: [{ uri: "contacts:/1", mimeType: "application/json" }],
        progress: expect.arrayContaining([100, 200]) as unknown,
        imported: { structuredContent: { imported: 250 } },
        asked: ["Delete Charles Babbage (contact 2)?", "What is next?"],
        deleted: { structuredContent: { deleted: 1 } },
        sampled: { content: [{ text: "the model says lunch" }] },
        told: expect.arrayContaining(["contacts:/1", "tools"]) as unknown,
        steps: [1, 2, 3, 4, 5, 6],
        released: { content: [{ text: "came back" }] },
      });
      if (kind === "none") return expect(found).not.toHaveProperty("session");
      expect(found).toMatchObject({ session: expect.any(String) as unknown, ended: 404 });
      expect(found.returned, "how often it came back for a stream, slow machines included").toBeGreaterThanOrEqual(2);
    },
  );
});
