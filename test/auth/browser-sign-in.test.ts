import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browserSignIn } from "@parlance/mcp/auth-node";
import { expect, onTestFinished, test, vi } from "vitest";

/** An authorization request with a state. */
const page = new URL("https://login.example/authorize?client_id=a&state=s-1");

/** The status of a raw request, whose host and target `fetch` would not send. */
async function statusOf(port: string, path: string, headers: Record<string, string> = {}, method = "GET") {
  const sent = request({ host: "127.0.0.1", port, path, headers, method }).end();
  const [response] = await once(sent, "response");
  response.resume();
  return response.statusCode;
}

/** A browser that does something with the URL of the redirect. */
function browse(go: (redirectUrl: string) => Promise<unknown>, options: { readonly timeout?: number } = {}) {
  let redirectUrl = "";
  const went: Promise<unknown>[] = [];
  const open = browserSignIn({ ...options, open: () => void went.push(go(redirectUrl)) });
  return async (registered: readonly string[] = []) => {
    const receiver = await open(registered);
    redirectUrl = receiver.redirectUrl;
    try {
      const redirect = new URL(await receiver.authorize(page));
      await Promise.all(went);
      return { redirect, redirectUrl };
    } finally {
      await receiver.close?.();
    }
  };
}

test("the redirect of the sign-in is received once, on 127.0.0.1, and the port is closed afterwards", async () => {
  let shown: Response | undefined;
  const signIn = browse(async (url) => {
    shown = await fetch(`${url}?code=c-1&state=s-1&iss=https%3A%2F%2Flogin.example`);
  });
  const { redirect, redirectUrl } = await signIn();
  expect(redirectUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect(redirect.href).toBe(`${redirectUrl}?code=c-1&state=s-1&iss=https%3A%2F%2Flogin.example`);
  expect(shown?.headers.get("content-security-policy")).toContain("default-src 'none'");
  const html = await shown?.text();
  expect(html).toContain("You are signed in");
  expect(html).not.toMatch(/c-1|s-1|<script/);
  await expect(fetch(redirectUrl)).rejects.toThrow();
});

test("a refusal is received too, and the page says so", async () => {
  let html = "";
  const { redirect } = await browse(async (url) => {
    html = await (await fetch(`${url}?error=access_denied&state=s-1`)).text();
  })();
  expect(redirect.searchParams.get("error")).toBe("access_denied");
  expect(html).toContain("You are not signed in");
});

test("requests that are not the redirect get 404 and end nothing: those of other pages and other programs", async () => {
  const statuses: unknown[] = [];
  await browse(async (url) => {
    const { port } = new URL(url);
    const right = "/callback?code=c-1&state=s-1";
    statuses.push(
      await statusOf(port, "/"),
      await statusOf(port, "/callback"),
      await statusOf(port, "/callback?error=x&state=guessed"),
      await statusOf(port, "/callback/?code=c-1&state=s-1"),
      await statusOf(port, right, { host: `localhost:${port}` }),
      await statusOf(port, right, { host: "evil.example" }),
      await statusOf(port, `http://evil.example${right}`),
      await statusOf(port, right, {}, "POST"),
      await statusOf(port, "//"),
      await statusOf(port, right),
    );
  })();
  expect(statuses).toEqual([...Array(9).fill(404), 200]);
});

test("the port of an earlier registration serves again, and another one where it is taken", async () => {
  const go = (url: string) => fetch(`${url}?code=c-1&state=s-1`);
  const first = await browse(go)();
  const again = await browse(go)(["https://app.example/callback", first.redirectUrl]);
  expect(again.redirectUrl).toBe(first.redirectUrl);
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const elsewhere = await browse(go)([`http://127.0.0.1:${port}/callback`]);
  expect(new URL(elsewhere.redirectUrl).port).not.toBe(`${port}`);
  await expect(browserSignIn({ port })([])).rejects.toThrow("EADDRINUSE");
});

test("a user who does not finish ends the sign-in in time", async () => {
  const signIn = browse(async () => undefined, { timeout: 50 });
  await expect(signIn()).rejects.toThrow(
    "the sign-in was not finished within 0.05 s: start again, and finish at https://login.example",
  );
});

test.each([
  [
    "throws",
    () => {
      throw new Error("no browser");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no browser"))],
])("a function of the application that %s ends the sign-in with its error", async (_, open) => {
  const receiver = await browserSignIn({ open })([]);
  await expect(receiver.authorize(page)).rejects.toThrow("no browser");
  await receiver.close?.();
});

test("options are checked", () => {
  const misspelt = { timeout: 1, openBrowser: () => undefined };
  expect(() => browserSignIn(misspelt)).toThrow("did you mean open?");
});

test.runIf(process.platform === "linux")(
  "the system's browser gets the URL as one argument, without a shell, and the URL is printed",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "parlance-browser-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const script = `#!/bin/sh\nprintf '%s|' "$#" "$@" > ${folder}/written && mv ${folder}/written ${folder}/argv\n`;
    await writeFile(join(folder, "xdg-open"), script);
    await chmod(join(folder, "xdg-open"), 0o755);
    const { PATH } = process.env;
    process.env.PATH = `${folder}:${PATH}`;
    onTestFinished(() => {
      process.env.PATH = PATH;
    });
    const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    onTestFinished(() => printed.mockRestore());

    const receiver = await browserSignIn()([]);
    onTestFinished(() => receiver.close?.());
    const hostile = new URL("https://login.example/authorize?state=s-1&x=$(touch%20/tmp/x);`id`|'\"&y=%26");
    const authorized = receiver.authorize(hostile);
    const written = () => readFile(join(folder, "argv"), "utf8").catch(() => "");
    await expect.poll(written).toBe(`1|${hostile.href}|`);
    expect(printed.mock.calls.join()).toContain(hostile.href);
    await fetch(`${receiver.redirectUrl}?code=c&state=s-1`);
    await authorized;
  },
);
