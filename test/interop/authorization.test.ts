import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { oauth } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { expect, onTestFinished, test } from "vitest";
import { approve, startProtectedServer, startSignInServer } from "../auth/client/protected-server.js";

// Sign-ins between our client or server and those of the official SDK, which `npm ci --prefix test/interop` installs; without it these
// tests are skipped.

const folder = import.meta.dirname;
const isInstalled = existsSync(join(folder, "node_modules"));
const sdkServer = "node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js";

/** A port that was free a moment ago: the example of the SDK takes no other way. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Starts the protected example of the SDK with its authorization server; the URL of the MCP server. */
async function startSdkServer(): Promise<string> {
  const [port, authPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [join(folder, sdkServer), "--oauth", "--oauth-strict"], {
    env: { ...process.env, MCP_PORT: String(port), MCP_AUTH_PORT: String(authPort) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout);
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => line.startsWith("MCP Streamable HTTP Server listening") && resolve());
    child.once("exit", () => reject(new Error("the server has ended")));
  });
  return `http://localhost:${port}/mcp`;
}

test.skipIf(!isInstalled)("our client signs in at the protected example server of the official SDK", async () => {
  const url = await startSdkServer();
  const kinds = new Set<string>();
  const auth = oauth({
    clientName: "Parlance",
    redirectUrl: "http://127.0.0.1:33418/callback",
    authorize: approve,
    onStep: ({ kind }) => kinds.add(kind),
  });
  await using client = await connect(url, { auth });
  expect(textOf(await client.tools.call("greet", { name: "ada" }))).toBe("Hello, ada!");
  expect([...kinds].join(" ")).toBe(
    "challenge resource-metadata server-metadata registration authorization redirect token",
  );
});

test.skipIf(!isInstalled)("the client of the official SDK signs in at our server", async () => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  const child = spawn(process.execPath, [join(folder, "programs/sdk-v1-oauth-client.js"), server.url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) lines.push(line);
  expect(lines.join("\n")).toContain('"authorized":true');
  const [authorization] = issuer.requests("/authorize");
  expect(Object.fromEntries(authorization?.parameters ?? [])).toMatchObject({ resource: server.url, scope: "read" });
  expect(server.presented.at(-1)).toBe(`Bearer ${[...issuer.issued.keys()].at(-1)}`);
});
