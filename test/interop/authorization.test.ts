import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { devAuth, oauth } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { connectStdio, serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, onTestFinished, test } from "vitest";
import { approve, startProtectedServer, startSignInServer } from "../auth/client/protected-server.js";

// Sign-ins between our client or server and those of the official SDK, which `npm ci --prefix test/interop` installs; without it these
// tests are skipped.

const folder = import.meta.dirname;
const isInstalled = existsSync(join(folder, "node_modules"));
const sdkServer = "node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js";

/** A port that was free a moment ago: the example of the SDK takes no other way. */
async function freePort(): Promise<number> {
  const probe = createTcpServer().listen(0, "127.0.0.1");
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

type DevAuth = ReturnType<typeof devAuth>;

/** Starts a protected server with its authorization server, whose user is Ada. */
async function startNotes(): Promise<{ readonly url: string; readonly auth: DevAuth }> {
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("read", {}, (_, { auth: caller }) => `read by ${caller?.subject}`);
  const auth = devAuth({ users: ["ada"], scopes: ["notes"] });
  const http = await serveHttp(server, { auth });
  onTestFinished(() => http.close());
  return { url: http.url, auth };
}

/**
 * A folder with a browser: the programs that open a page under the names that Linux has for it. It hands the page to this test, where a user
 * signs in, and opens the redirect. The environment of a program that opens pages there and keeps its files there.
 */
async function newBrowser(auth: DevAuth): Promise<{ readonly folder: string; readonly env: Record<string, string> }> {
  const home = await mkdtemp(join(tmpdir(), "parlance-browser-"));
  const user = createHttpServer(async (request, response) => {
    let page = "";
    for await (const part of request) page += part;
    const redirect = await auth.signInAs("ada")(new URL(page));
    response.end(redirect.href);
  }).listen(0, "127.0.0.1");
  await once(user, "listening");
  const { port } = user.address() as AddressInfo;
  const browser = join(home, "xdg-open");
  const program = `#!${process.execPath}
fetch("http://127.0.0.1:${port}/", { method: "POST", body: process.argv[2] })
  .then((response) => response.text())
  .then((redirect) => fetch(redirect))
  .then((page) => page.text());
`;
  await writeFile(browser, program);
  await chmod(browser, 0o755);
  onTestFinished(async () => {
    user.closeAllConnections();
    user.close();
    await rm(home, { recursive: true, force: true });
  });
  const env = { HOME: home, PATH: `${home}:${process.env.PATH}`, BROWSER: browser };
  return { folder: home, env };
}

// The browser is started by the name that Linux has for it.
const onLinux = test.skipIf(!isInstalled || process.platform !== "linux");

onLinux("mcp-remote signs in at our server, and bridges it to stdio", async () => {
  const { url, auth } = await startNotes();
  const { env } = await newBrowser(auth);
  const proxy = join(folder, "node_modules/mcp-remote/dist/proxy.js");
  await using client = await connectStdio({ command: process.execPath, args: [proxy, url, "--silent"], env });
  const names: string[] = [];
  for await (const { name } of client.tools.list()) names.push(name);
  expect(names).toEqual(["read"]);
  expect(textOf(await client.tools.call("read"))).toBe("read by ada");
});

onLinux("mcpc signs in at our server, lists and calls", async () => {
  const { url, auth } = await startNotes();
  const { folder: home, env } = await newBrowser(auth);
  const mcpc = async (...args: string[]): Promise<string> => {
    const child = spawn(process.execPath, [join(folder, "node_modules/@apify/mcpc/bin/mcpc"), ...args], {
      env: { ...process.env, ...env, MCPC_HOME_DIR: join(home, "mcpc") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return out + err;
  };
  expect(await mcpc("login", url)).toContain("Authentication successful");
  let connected: string;
  do connected = await mcpc("connect", url, "@notes");
  while (connected.includes("socket file not created within timeout")); // It gives its own process 5 s to start.
  expect(connected).toMatch(/Session @notes (re)?c/);
  try {
    expect(await mcpc("@notes", "tools-list")).toContain("`read ()`");
    expect(await mcpc("@notes", "tools-call", "read")).toContain("read by ada");
  } finally {
    await mcpc("close", "@notes"); // Its process lives on otherwise.
  }
});
