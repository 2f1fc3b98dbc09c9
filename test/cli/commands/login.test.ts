import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bearerAuth, devAuth, oauth } from "@parlance/mcp/auth";
import { fileTokenStore } from "@parlance/mcp/auth-node";
import { connect, textOf } from "@parlance/mcp/client";
import { connectStdio, serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, onTestFinished, test } from "vitest";
import { startProtectedServer, startSignInServer } from "../../auth/client/protected-server.js";
import { main, start, startInForm } from "../run.js";
import { hasTerminals, inTerminal } from "../terminal.js";

/** A user whose browser approves at once, and whose tokens are kept in a folder of their own. */
async function newUser() {
  const folder = await mkdtemp(join(tmpdir(), "parlance-login-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const browser = join(folder, "xdg-open");
  await writeFile(browser, `#!${process.execPath}\nfetch(process.argv[2]).then((page) => page.text());\n`);
  await chmod(browser, 0o755);
  const file = join(folder, "credentials.json");
  const env = { PATH: `${folder}:${process.env.PATH}`, PARLANCE_CREDENTIALS: file };
  return { file, env, run: (...args: string[]) => startInForm(args, env).ended };
}

async function newServers() {
  const issuer = await startSignInServer();
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const server = await startProtectedServer(issuer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { issuer, server };
}

// The browser is started by the name that Linux has for it.
const onLinux = test.runIf(process.platform === "linux");

onLinux("after a sign-in every command has the tokens, until the sign-out", async () => {
  const { issuer, server } = await newServers();
  const user = await newUser();
  const refused = await user.run("call", server.url, "read");
  expect(refused.code, refused.stderr).toBe(3);
  expect(refused.stderr).toContain("the server requires a sign-in\n");
  expect(refused.stderr).toContain(`→ parlance login ${server.url}, or for machines --bearer-env TOKEN\n`);

  // In a process, because the library writes to the standard error of its process.
  const signedIn = await start(["login", server.url], user.env).ended;
  expect(signedIn.stderr).toContain(`To sign in, open:\n\n  ${issuer.url}/`);
  expect(signedIn).toMatchObject({ code: 0 });
  expect(signedIn.stdout).toMatch(
    new RegExp(
      `^server {16}${server.url}\nauthorization server  ${issuer.url}\nclient id .*\nscopes {16}read\nexpires`,
    ),
  );
  expect(await user.run("call", server.url, "read")).toMatchObject({ code: 0, stdout: "read by ada\n" });
  expect(await user.run("whoami")).toMatchObject({ code: 0, stdout: signedIn.stdout });
  const [listed] = (await user.run("whoami", "--json", server.url)).stdout.split("\n");
  expect(JSON.parse(listed ?? "")).toMatchObject({ resource: server.url, issuer: issuer.url, scopes: ["read"] });

  const { credentials } = JSON.parse(await readFile(user.file, "utf8"));
  const [{ tokens }] = Object.values(credentials) as [{ tokens: { accessToken: string } }];
  expect(signedIn.stdout + signedIn.stderr).not.toContain(tokens.accessToken);

  expect((await user.run("logout", server.url)).stdout).toBe(`deleted the tokens for ${server.url}\n`);
  expect((await user.run("logout", server.url)).stderr).toContain(`not signed in to ${server.url}`);
  expect((await user.run("whoami", server.url)).stderr).toContain("→ parlance login <url>");
  expect((await user.run("call", server.url, "read")).stderr).toContain("the server requires a sign-in\n");
});

onLinux("a scope that the user has not granted is named, and login --scope asks for it, once", async () => {
  const { issuer, server } = await newServers();
  const user = await newUser();
  await user.run("login", server.url);
  const refused = await user.run("call", server.url, "write");
  expect(refused.stderr).toContain("the token lacks a scope that this needs\n");
  expect(refused.stderr).toContain(`→ parlance login --scope read --scope write ${server.url}`);
  const more = await user.run("login", "--scope", "write", server.url);
  expect(more.stdout).toMatch(/^scopes {16}read write$/m);
  expect(await user.run("call", server.url, "write")).toMatchObject({ code: 0, stdout: "written\n" });
  expect(await user.run("login", "--scope", "write", server.url)).toMatchObject({ code: 0, stderr: "" });
  const asked = issuer.requests("/authorize").map(({ parameters }) => parameters.get("scope"));
  expect(asked).toEqual(["read", "read write"]);
});

onLinux("login says which of the scopes that were asked for the user has not granted", async () => {
  const { issuer, server } = await newServers();
  issuer.behaviour.grants = ["read"];
  const user = await newUser();
  const { code, stderr } = await user.run("login", "--scope", "write", server.url);
  expect(stderr).toContain("write was not granted: ask the operator of the server for access\n");
  expect(code).toBe(0);
});

test.runIf(process.platform === "linux" && hasTerminals)(
  "a call at a terminal signs the user in, and once more for a scope that it needs",
  async () => {
    const { issuer, server } = await newServers();
    const user = await newUser();
    const { code, stdout } = await inTerminal(["call", server.url, "write"], user.env).ended;
    expect(stdout.match(/To sign in, open:/g)).toHaveLength(2);
    expect(stdout).toMatch(/^written$/m);
    expect(code).toBe(0);
    const asked = issuer.requests("/authorize").map(({ parameters }) => parameters.get("scope"));
    expect(asked).toEqual(["read", "read write"]);
  },
);

test("logout revokes the tokens where the authorization server can, and deletes them in any case", async () => {
  const auth = devAuth({ users: ["ada"] });
  const http = await serveHttp(createServer({ name: "notes", version: "1.0.0" }), { auth });
  onTestFinished(() => http.close());
  const user = await newUser();
  const signIn = async () => {
    const authorize = auth.signInAs("ada");
    const store = fileTokenStore(user.file);
    const redirectUrl = "http://127.0.0.1:33418/callback";
    const client = await connect(http.url, {
      auth: oauth({ clientName: "parlance", redirectUrl, authorize, store }),
    });
    await client.close();
    const [credentials] = (await store.entries()).values();
    return `Bearer ${credentials?.tokens?.accessToken}`;
  };
  const authorization = await signIn();
  const signedOut = await user.run("logout", http.url);
  expect(signedOut).toMatchObject({ code: 0, stdout: `revoked and deleted the tokens for ${http.url}\n`, stderr: "" });
  await expect(connect(http.url, { headers: { authorization } })).rejects.toThrow();

  await signIn();
  await http.close();
  const alone = await user.run("logout", http.url);
  expect(alone).toMatchObject({ code: 3, stdout: `deleted the tokens for ${http.url}\n` });
  expect(alone.stderr).toContain("the tokens were not revoked: ");
  expect((await user.run("whoami")).stderr).toContain("not signed in");
});

test("a machine gives its token in an environment variable, with or without the scheme", async () => {
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, { auth }) => `${auth?.subject}`);
  const verify = (token: string): { subject: string } | undefined =>
    token === "abc" ? { subject: "robot" } : undefined;
  const resource = "https://mcp.example.com/mcp";
  const auth = bearerAuth({ resource, authorizationServers: ["https://login.example.com"], verify });
  await using http = await serveHttp(server, { auth, report: () => undefined });
  const call = (target: string, env: Readonly<Record<string, string>>) =>
    start(["call", "--bearer-env", "TOKEN", target, "whoami"], env).ended;
  for (const TOKEN of ["abc", "Bearer abc", " abc\n"]) {
    expect(await call(http.url, { TOKEN })).toMatchObject({ code: 0, stdout: "robot\n" });
  }
  expect((await call(http.url, { TOKEN: "" })).stderr).toContain("TOKEN is not set here");
  expect((await call("node server.js", { TOKEN: "abc" })).stderr).toContain("--bearer-env is for requests to a URL");
});

onLinux("of four sign-ins at once one opens a page; the others say what they wait for, and use its token", async () => {
  const { issuer, server } = await newServers();
  const user = await newUser();
  let release: (() => void) | undefined;
  // The user takes the time that the page is held here.
  const page = createHttpServer((_, response) => {
    release = () => void response.end();
    pageIsOpen();
  });
  let pageIsOpen: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    pageIsOpen = resolve;
  });
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void page.close());
  const gate = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`;
  const program = `#!${process.execPath}\nfetch("${gate}").then(() => fetch(process.argv[2])).then((page) => page.text());\n`;
  await writeFile(join(dirname(user.file), "xdg-open"), program);

  const first = start(["login", server.url], user.env);
  await opened;
  const others = [1, 2, 3].map(() => start(["login", server.url], user.env));
  for (const { untilError } of others) await untilError(`Waiting for process ${first.child.pid} of ${hostname()}`);
  const impatient = others.pop();
  impatient?.interrupt();
  expect((await impatient?.ended)?.code).not.toBe(0);
  release?.();
  for (const { ended } of [first, ...others]) expect(await ended).toMatchObject({ code: 0 });
  expect(issuer.requests("/authorize")).toHaveLength(1);
  expect(issuer.requests("/token")).toHaveLength(1);
});

onLinux("commands that write their requests themselves use the token too, and renew it", async () => {
  const { issuer, server } = await newServers();
  const user = await newUser();
  expect((await user.run("doctor", server.url)).stdout).toContain("POST: 401");
  expect(await user.run("login", server.url)).toMatchObject({ code: 0 });
  issuer.expireAll();
  const frame = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}';
  const sent = await user.run("send", "--open", server.url, frame);
  expect(sent.stdout, sent.stderr).toContain("read by ada");
  expect((await user.run("doctor", server.url)).stdout).not.toContain("POST: 401");
});

onLinux("a bridge on stdio signs its user in, without a terminal", async () => {
  const { server } = await newServers();
  const { env } = await newUser();
  await using client = await connectStdio({
    command: process.execPath,
    args: [main, "bridge", server.url],
    env,
    stderr: () => undefined,
  });
  expect(textOf(await client.tools.call("read"))).toBe("read by ada");
});

onLinux("each step of a sign-in is explained, with the page that describes it, and without a secret", async () => {
  const { issuer, server } = await newServers();
  const user = await newUser();
  const { stdout, stderr, code } = await user.run("login", "--explain", server.url);
  expect(code, stderr).toBe(0);
  const steps = stdout.split("\n").flatMap((line) => /^([a-z-]+)(?= {2}|$)/.exec(line)?.[1] ?? []);
  const order = [
    "challenge",
    "resource-metadata",
    "server-metadata",
    "registration",
    "authorization",
    "redirect",
    "token",
  ];
  expect([...new Set(steps)].filter((step) => order.includes(step))).toEqual(order);
  expect(stdout).toContain("https://modelcontextprotocol.io/specification/latest/basic/authorization#");
  for (const token of issuer.issued.keys()) expect(stdout + stderr).not.toContain(token);
  // The line of a request is printed once.
  expect(stdout.split(`GET ${issuer.url}/.well-known/oauth-authorization-server`)).toHaveLength(2);
});

onLinux("a tool that needs another scope names the sign-in that asks for it, as words of a shell", async () => {
  const auth = devAuth({ users: ["ada"], scopes: ["notes"] });
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("list", {}, () => "none");
  server.tool("erase", { scopes: ["notes:$write"] }, () => "erased");
  const http = await serveHttp(server, { auth });
  onTestFinished(() => http.close());
  const user = await newUser();
  const authorize = auth.signInAs("ada");
  const store = fileTokenStore(user.file);
  const options = { clientName: "parlance", redirectUrl: "http://127.0.0.1:33418/callback", authorize, store };
  await using client = await connect(http.url, { auth: oauth(options) });
  expect(client.server.info?.name).toBe("notes");
  expect(await user.run("call", http.url, "list")).toMatchObject({ code: 0 });
  const { code, stderr } = await user.run("call", http.url, "erase");
  expect(code).toBe(3);
  expect(stderr).toContain("✖ the token lacks a scope that this needs\n");
  expect(stderr).toContain(`→ parlance login --scope notes --scope 'notes:$write' ${http.url}, or for machines`);
});

onLinux("a registration that fails names the response and the option for a client id", async () => {
  const { issuer, server } = await newServers();
  const other = createHttpServer((_, response) =>
    response.writeHead(401, { "content-type": "text/plain; charset=utf-8" }).end("who are you?"),
  ).listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/register`;
  issuer.behaviour.metadata = { registration_endpoint: url };
  const { code, stderr } = await (await newUser()).run("login", server.url);
  expect(code).toBe(3);
  expect(stderr).toContain(`received  status 401 with "text/plain" from ${url}\n`);
  expect(stderr).toContain("sign in with --client-id <id>");
});

onLinux("a sign-in that fails says the step, what was received and expected, and the remedy", async () => {
  const { issuer, server } = await newServers();
  issuer.behaviour.metadata = { code_challenge_methods_supported: ["plain"] };
  const { stdout, stderr, code } = await (await newUser()).run("login", server.url);
  expect(code).toBe(3);
  expect(stdout).toBe("");
  expect(stderr).toContain("sign-in failed: server-metadata\n");
  expect(stderr).toContain("received  PKCE with plain\n");
  expect(stderr).toContain("expected  `code_challenge_methods_supported` with S256\n");
  expect(stderr).toContain("→ the authorization server");
});

onLinux("a server that requires no sign-in, and a URL without a server, are named", async () => {
  const user = await newUser();
  const other = createHttpServer((_, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`;
  const { code, stderr } = await user.run("login", url);
  expect(code).toBe(3);
  expect(stderr).toContain("nothing is at this path");
  expect(await user.run("login", "notes")).toMatchObject({ code: 1 });
});

onLinux("a header of the user is the only authorization", async () => {
  const { server } = await newServers();
  const user = await newUser();
  await user.run("login", server.url);
  const { code } = await user.run("call", "--header", "Authorization: Bearer mine", server.url, "read");
  expect(code).toBe(3);
  expect(server.presented.at(-1)).toBe("Bearer mine");
});

onLinux("a sign-in as a registered client is used, and renewed, by every other command too", async () => {
  const { issuer, server } = await newServers();
  const user = await newUser();
  expect(await user.run("login", "--client-id", "notes-app", server.url)).toMatchObject({ code: 0 });
  expect(await user.run("call", server.url, "read")).toMatchObject({ code: 0, stdout: "read by ada\n" });
  issuer.expireAll();
  expect(await user.run("call", server.url, "read")).toMatchObject({ code: 0, stdout: "read by ada\n" });
  expect(issuer.requests("/register")).toEqual([]);
  expect(issuer.requests("/token").map(({ parameters }) => parameters.get("client_id"))).toEqual([
    "notes-app",
    "notes-app",
  ]);
  expect((await user.run("whoami", server.url)).stdout).toContain("notes-app");
});

test("with --device it prints a code, and signs in once the user has entered it elsewhere", async () => {
  const { issuer, server } = await newServers();
  let answer: string | undefined = "authorization_pending";
  issuer.behaviour.device = { interval: 0.1, answer: () => answer };
  const user = await newUser();
  const run = startInForm(["login", "--device", server.url], user.env);
  await run.untilError("and enter the code WDJB-MJHT, which is valid for 10 minutes");
  answer = undefined;
  const { code, stdout, stderr } = await run.ended;
  expect(stderr).toContain(`To sign in, open on any device:\n\n  ${issuer.url}/enter\n`);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(server.url) as unknown });
  expect(await user.run("call", server.url, "read")).toMatchObject({ code: 0, stdout: "read by ada\n" });
  issuer.expireAll();
  expect(await user.run("call", server.url, "read")).toMatchObject({ code: 0, stdout: "read by ada\n" });
  expect(issuer.requests("/register")).toHaveLength(1);
  expect(issuer.requests("/authorize")).toEqual([]);
});

test("with --device a denial is said in the words of the authorization server", async () => {
  const { issuer, server } = await newServers();
  issuer.behaviour.device = { interval: 0.1, answer: () => "access_denied" };
  const { code, stderr } = await (await newUser()).run("login", "--device", server.url);
  expect(code).toBe(3);
  expect(stderr).toContain("sign-in failed: token\n");
  expect(stderr).toContain("access_denied");
});

test("Ctrl-C ends the wait for the user of a device code at once", async () => {
  const { issuer, server } = await newServers();
  issuer.behaviour.device = { interval: 600, answer: () => undefined };
  const run = startInForm(["login", "--device", server.url], (await newUser()).env);
  await run.untilError("and enter the code");
  run.interrupt();
  expect(await run.ended).toMatchObject({ code: 130, stdout: "" });
  expect(issuer.requests("/token")).toEqual([]);
});
