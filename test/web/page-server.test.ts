import { get } from "node:http";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { parlance, start, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { ServedPage } from "./served-page.js";

const token = (url: string): string => new URL(url).hash.replace("#token=", "");

async function recorded(folder: Scratch): Promise<string> {
  const path = folder.at("run.parlance.jsonl");
  expect(await parlance(["run", "--once", "--record", path, ...toolsServer])).toMatchObject({ code: 0 });
  return path;
}

/** The response to a request that names its host. */
function statusFor(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
}

/** How an upgrade ends: `open`, or the status. */
function upgrade(
  origin: string,
  protocols: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<string | number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${origin.replace(/^http/, "ws")}/connection`, [...protocols], { headers });
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
    socket.on("error", reject);
    socket.on("open", () => {
      resolve("open");
      socket.close();
    });
  });
}

test("the page is served with headers that keep everything else out, and nothing but its files", async () => {
  using folder = new Scratch();
  await using served = await ServedPage.open(await recorded(folder));
  expect(token(served.url)).toMatch(/^[\w-]{43}$/);
  const page = await fetch(`${served.origin}/`);
  expect(await page.text()).not.toContain(token(served.url));
  const { headers } = page;
  expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
  expect(headers.get("content-security-policy")).not.toContain("unsafe");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  for (const path of ["/../program.js", "/%2e%2e/program.js", "/page.js.map", "/index.html", "/connection"])
    expect(await statusFor(served.origin + path, {}), path).toBe(404);
  expect((await fetch(`${served.origin}/`, { method: "POST" })).status).toBe(405);
});

test("other sites, other pages of this machine, and who has no token get nothing", async () => {
  using folder = new Scratch();
  await using served = await ServedPage.open(await recorded(folder));
  const { host } = new URL(served.url);
  const secret = `parlance-token.${token(served.url)}`;
  expect(await statusFor(served.origin, { host: "rebound.example.com" })).toBe(403);
  expect(await statusFor(served.origin, { host, origin: "http://localhost:1" })).toBe(403);
  expect(await upgrade(served.origin, ["parlance-page"], { origin: served.origin })).toBe(401);
  expect(await upgrade(served.origin, ["parlance-page", `${secret.slice(0, -1)}_`], { origin: served.origin })).toBe(
    401,
  );
  expect(await upgrade(served.origin, ["parlance-page", secret], { origin: "http://localhost:1" })).toBe(403);
  expect(await upgrade(served.origin, ["parlance-page", secret], { origin: "https://example.com" })).toBe(403);
  expect(await upgrade(served.origin, ["parlance-page", secret], { host: "rebound.example.com" })).toBe(403);
  expect(await upgrade(served.origin, ["parlance-page", secret], { origin: served.origin })).toBe("open");
});

test("a recording that is not there is an error of the command line", async () => {
  using folder = new Scratch();
  const { code, stderr } = await start(["open", folder.at("none.parlance.jsonl")], { PARLANCE_RECORDINGS: folder.path })
    .ended;
  expect(code).toBe(1);
  expect(stderr).toContain("there is no file");
});
