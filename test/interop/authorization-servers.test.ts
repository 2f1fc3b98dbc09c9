import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { jwtAuth, oauth } from "@parlance/mcp/auth";
import { type Client, connect, textOf } from "@parlance/mcp/client";
import type { HttpOptions } from "@parlance/mcp/http";
import { nodeHandler } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, onTestFinished, test } from "vitest";
import { UserAgent } from "../auth/user-agent.js";

// Our client and our servers with authorization servers of others, which `npm ci --prefix test/interop` installs; without them these
// tests are skipped.

const folder = join(import.meta.dirname, "authorization-servers");
const isInstalled = existsSync(join(folder, "../node_modules/oidc-provider"));
const redirectUrl = "http://127.0.0.1:33418/callback";

/** Starts oidc-provider in a process of its own; its issuer. */
async function startOidcProvider(settings: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const child = spawn(process.execPath, [join(folder, "oidc-provider.js"), JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`the authorization server ended with ${code}`)));
  });
}

/** Starts our protected server; its URL. The tool `erase` needs one more scope. */
async function startNotes(authAt: (url: string) => NonNullable<HttpOptions["auth"]>): Promise<string> {
  const http = createHttpServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, { auth }) => `${auth?.subject} of ${auth?.issuer}: ${auth?.scopes?.join(" ")}`);
  server.tool("erase", { scopes: ["notes", "notes:write"] }, () => "erased");
  const handler = nodeHandler(server, { auth: authAt(url) });
  http.on("request", handler);
  onTestFinished(async () => {
    handler.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return url;
}

/** A user with a browser who signs in once, and consents to every request. */
function userOf(name: string): (url: URL) => Promise<URL> {
  const agent = new UserAgent();
  return async (url) => {
    const refusal = await agent.open(url, redirectUrl);
    if (refusal !== undefined) return refusal;
    const isSignIn = agent.html.includes('name="login"');
    if (isSignIn) await agent.submit({ login: name, password: "any" }, redirectUrl);
    const redirect = await agent.submit({}, redirectUrl);
    if (redirect === undefined) throw new Error(`no redirect, but the page ${agent.html}`);
    return redirect;
  };
}

type OAuth = Parameters<typeof oauth>[0];

/** Connects as a client whose user is Ada, and records the steps of its sign-in. */
async function signIn(url: string, options: OAuth = {}): Promise<{ client: Client; steps: string[] }> {
  const steps: string[] = [];
  const auth = oauth({
    clientName: "Notes",
    redirectUrl,
    authorize: userOf("ada"),
    onStep: ({ kind, text }) => steps.push(`${kind}: ${text}`),
    ...options,
  });
  const client = await connect(url, { auth });
  onTestFinished(() => client.close());
  return { client, steps };
}

const call = async (client: Client, name: string): Promise<string> => textOf(await client.tools.call(name));
const jwtOf = (issuer: string) => (audience: string) => jwtAuth({ issuer, audience, scopes: ["notes"] });

const withOidcProvider = test.skipIf(!isInstalled);

withOidcProvider("a client registers dynamically, signs in, and steps up", async () => {
  const issuer = await startOidcProvider();
  const { client, steps } = await signIn(await startNotes(jwtOf(issuer)));
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(steps.join("\n")).toMatch(/^registration: registered as/m);
  expect(await call(client, "erase")).toBe("erased");
  expect(steps.join("\n")).toMatch(/^step-up: requests notes notes:write$/m);
});

withOidcProvider("a client registers again for a step-up, where its registration restricts the scopes", async () => {
  const issuer = await startOidcProvider({ scopes: ["openid", "offline_access", "notes", "notes:write"] });
  const { client, steps } = await signIn(await startNotes(jwtOf(issuer)));
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(await call(client, "erase")).toBe("erased");
  expect(steps.filter((step) => step.startsWith("registration: registered as"))).toHaveLength(2);
});

withOidcProvider("a pre-registered client signs in with its secret", async () => {
  const registered = { client_id: "notes-app", client_secret: "a secret: with + and %", redirect_uris: [redirectUrl] };
  const issuer = await startOidcProvider({ clients: [{ ...registered, application_type: "native" }] });
  const { client, steps } = await signIn(await startNotes(jwtOf(issuer)), {
    clientId: registered.client_id,
    clientSecret: registered.client_secret,
    issuer,
  });
  expect(await call(client, "whoami")).toBe(`ada of ${issuer}: notes`);
  expect(steps).toContain("registration: notes-app: pre-registered");
});
