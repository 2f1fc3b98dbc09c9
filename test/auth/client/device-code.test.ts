import { deviceCode, memoryTokenStore, oauth, SignInError } from "@parlance/mcp/auth";
import { connect, textOf } from "@parlance/mcp/client";
import { expect, onTestFinished, test } from "vitest";
import { approve, type Behaviour, startProtectedServer, startSignInServer } from "./protected-server.js";

type Options = Parameters<typeof deviceCode>[0];
type Device = NonNullable<Behaviour["device"]>;

async function newServers(device?: Device) {
  const issuer = await startSignInServer();
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  if (device !== undefined) issuer.behaviour.device = device;
  const server = await startProtectedServer(issuer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { issuer, url: server.url };
}

/** Signs in with a device code and calls a tool; its text. */
async function read(url: string, options: Partial<Options> = {}): Promise<string> {
  const auth = deviceCode({ show: () => undefined, clientName: "Notes", ...options });
  await using client = await connect(url, { auth, reopen: false });
  return textOf(await client.tools.call("read"));
}

async function failureOf(signIn: Promise<unknown>): Promise<SignInError["failure"]> {
  const error: unknown = await signIn.catch((thrown: unknown) => thrown);
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof SignInError) return each.failure;
  throw new Error(`no failed sign-in: ${String(error)}`);
}

/** Gives these errors one after the other, and then tokens. */
function answering(...errors: readonly string[]): Device["answer"] {
  const left = [...errors];
  return () => left.shift();
}

const pending = "authorization_pending";

test("a user enters the code on another device, and the client polls until then", async () => {
  const { issuer, url } = await newServers({ interval: 0.05, answer: answering(pending, pending) });
  const prompts: unknown[] = [];
  const steps: string[] = [];
  const show: Options["show"] = (prompt) => void prompts.push(prompt);
  expect(await read(url, { show, onStep: ({ kind, text }) => steps.push(`${kind}: ${text}`) })).toBe("read by ada");
  expect(prompts).toEqual([{ verificationUri: `${issuer.url}/enter`, userCode: "WDJB-MJHT", expiresIn: 600_000 }]);
  const [asked] = issuer.requests("/device");
  expect(Object.fromEntries(asked?.parameters ?? [])).toMatchObject({ resource: url, scope: "read" });
  const [registered] = issuer.requests("/register");
  expect(registered?.body).toMatchObject({
    redirect_uris: [],
    response_types: [],
    grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
  });
  const polls = issuer.requests("/token").map(({ parameters }) => Object.fromEntries(parameters));
  expect(polls).toHaveLength(3);
  expect(polls[0]).toMatchObject({ grant_type: "urn:ietf:params:oauth:grant-type:device_code", resource: url });
  expect(steps.join("\n")).toContain(`authorization: the user enters a code at ${new URL(issuer.url).host}`);
  expect(steps.join("\n")).not.toMatch(/CANARY|WDJB/);
});

test("slow_down makes the interval five seconds longer", async () => {
  let slowedAt: number | undefined;
  const answer = (): string | undefined => {
    const now = performance.now();
    if (slowedAt !== undefined) return now - slowedAt < 5_000 ? "access_denied" : undefined;
    slowedAt = now;
    return "slow_down";
  };
  const { url } = await newServers({ interval: 0.05, answer });
  expect(await read(url)).toBe("read by ada");
});

test("errors with the status 200, as GitHub sends them, are errors", async () => {
  const { issuer, url } = await newServers({ interval: 0.05, answer: () => undefined });
  const left = [pending, pending];
  issuer.behaviour.token = () => {
    const error = left.shift();
    return error === undefined ? undefined : { status: 200, body: { error } };
  };
  expect(await read(url)).toBe("read by ada");
  issuer.behaviour.token = () => ({ status: 200, body: { error: "access_denied" } });
  expect(await failureOf(read(url))).toMatchObject({ kind: "denied" });
});

test.each([
  ["access_denied", "denied", "status 400 with access_denied"],
  ["expired_token", "abandoned", "the code has expired"],
  ["invalid_grant", "token", "status 400 with invalid_grant"],
])("%s ends the sign-in, and says so", async (error, kind, received) => {
  const { issuer, url } = await newServers({ interval: 0.05, answer: () => error });
  expect(await failureOf(read(url))).toMatchObject({ kind, received: expect.stringContaining(received) as unknown });
  expect(issuer.requests("/token")).toHaveLength(1);
});

test("a code that expires ends the sign-in, also if the server does not say so", async () => {
  const { url } = await newServers({ interval: 0.05, expiresIn: 1, answer: () => pending });
  expect(await failureOf(read(url))).toMatchObject({
    kind: "abandoned",
    received: "no response: the code has expired",
    remedy: "sign in again, and enter the new code in time",
  });
});

test("a lost connection does not end the sign-in", async () => {
  const { issuer, url } = await newServers({ interval: 0.05, answer: answering(pending) });
  let lost = 0;
  const lossy: Options["fetch"] = (at, init) => {
    if (at.pathname !== "/token" || lost === 2) return fetch(at, init);
    lost += 1;
    return Promise.reject(new TypeError("fetch failed"));
  };
  expect(await read(url, { fetch: lossy })).toBe("read by ada");
  expect(issuer.requests("/token")).toHaveLength(2);
});

test("a signal ends the wait for the user", async () => {
  const { issuer, url } = await newServers({ interval: 600, answer: () => pending });
  const controller = new AbortController();
  const signIn = read(url, { show: () => controller.abort(), signal: controller.signal });
  expect(await failureOf(signIn)).toMatchObject({
    kind: "abandoned",
    received: "no response: the sign-in was cancelled",
  });
  expect(issuer.requests("/token")).toEqual([]);
});

test("what `show` throws ends the sign-in", async () => {
  const { url } = await newServers({ answer: () => pending });
  const show = (): void => {
    throw new Error("there is no screen");
  };
  expect(await failureOf(read(url, { show }))).toMatchObject({
    kind: "abandoned",
    received: "an error of `show`: Error: there is no screen",
  });
});

test("an authorization server without device codes is named, and nothing is registered there", async () => {
  const { issuer, url } = await newServers();
  expect(await failureOf(read(url))).toMatchObject({
    kind: "server-metadata",
    received: `metadata of ${issuer.url} without a device authorization endpoint`,
  });
  expect(issuer.requests("/register")).toEqual([]);
});

test("a page that is not on the web is refused", async () => {
  const { issuer, url } = await newServers({ answer: () => pending });
  const unsafe: Options["fetch"] = async (at, init) => {
    const response = await fetch(at, init);
    if (at.pathname !== "/device") return response;
    return Response.json({ ...((await response.json()) as object), verification_uri: "javascript:alert(1)" });
  };
  expect(await failureOf(read(url, { fetch: unsafe }))).toMatchObject({ kind: "insecure-url", step: "authorization" });
  expect(issuer.requests("/token")).toEqual([]);
});

test("a client of the same name with redirects shares the tokens, and registers for itself", async () => {
  const { issuer, url } = await newServers({ interval: 0.05, answer: answering() });
  const store = memoryTokenStore();
  expect(await read(url, { store })).toBe("read by ada");
  const auth = oauth({ clientName: "Notes", store, redirectUrl: "http://127.0.0.1:1/callback", authorize: approve });
  await using client = await connect(url, { auth });
  expect(textOf(await client.tools.call("read"))).toBe("read by ada");
  expect(issuer.requests("/register")).toHaveLength(1);
  expect(textOf(await client.tools.call("write"))).toBe("written");
  expect(issuer.requests("/register")).toHaveLength(2);
});

test("the registration of a client of the same name with redirects is not used for device codes", async () => {
  const { issuer, url } = await newServers({ interval: 0.05, answer: answering() });
  const store = memoryTokenStore();
  const auth = oauth({ clientName: "Notes", store, redirectUrl: "http://127.0.0.1:1/callback", authorize: approve });
  await using browser = await connect(url, { auth });
  expect(textOf(await browser.tools.call("read"))).toBe("read by ada");
  const byCode = deviceCode({ show: () => undefined, clientName: "Notes", store });
  await using client = await connect(url, { auth: byCode, reopen: false });
  expect(textOf(await client.tools.call("write"))).toBe("written");
  expect(issuer.requests("/register").map(({ body }) => (body as { redirect_uris: unknown }).redirect_uris)).toEqual([
    ["http://127.0.0.1:1/callback"],
    [],
  ]);
});

test("a secret needs its issuer", () => {
  expect(() => deviceCode({ show: () => undefined, clientId: "app", clientSecret: "secret" })).toThrow(
    "deviceCode: clientSecret needs clientId and issuer",
  );
});
