import { existsSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { handshakeVersions, latest } from "@parlance/mcp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HttpClient } from "./http-client.js";
import { Program } from "./program.js";

// Express, Fastify, Hono and workerd are installed by `npm ci --prefix examples/http-adapters`; without them these tests are skipped.

const folder = join(import.meta.dirname, "../../examples/http-adapters");
const isInstalled = existsSync(join(folder, "node_modules"));

function node(file: string): Promise<Program> {
  return Program.start(process.execPath, [file], folder);
}

/** The runtime of Cloudflare's workers; it bundles what it is given as the platform does. */
function worker(): Promise<Program> {
  const { default: workerd } = createRequire(join(folder, "worker.js"))("workerd") as { readonly default: string };
  const args = ["serve", "wrangler.jsonc", "--socket-addr", "http=127.0.0.1:0", "--control-fd=1"];
  return Program.start(workerd, args, folder);
}

/** Where a program says that it serves: with a URL, or as workerd does. */
function urlIn({ line }: Program, path: string): string {
  const port = /^\{.*"port":(\d+)/.exec(line)?.[1];
  return new URL(path, port === undefined ? line : `http://127.0.0.1:${port}`).href;
}

const platforms = [
  ["Express", () => node("express.js"), "/mcp"],
  ["Express, behind its body parser and under a prefix", () => node("express.js"), "/parsed/contacts"],
  ["Fastify", () => node("fastify.js"), "/mcp"],
  ["Hono", () => node("hono.js"), "/mcp"],
  ["a worker", worker, "/mcp"],
] as const;

/** 2024-11-05 is on HTTP+SSE, which is off. */
const revisions = [latest.version, ...handshakeVersions.filter((version) => version !== "2024-11-05")];

describe.skipIf(!isInstalled).each(platforms)("the contacts in %s", (platform, start, path) => {
  let program: Program;
  let url: string;
  beforeAll(async () => {
    program = await start();
    url = urlIn(program, path);
  });
  afterAll(() => program?.[Symbol.asyncDispose]());

  test.each(revisions)("are listed, found and added by clients of %s", async (revision) => {
    const client = await HttpClient.open(url, revision);
    const { tools } = (await client.call("tools/list")) as { readonly tools: readonly { readonly name: string }[] };
    expect(tools.map(({ name }) => name)).toContain("import_contacts");
    expect(await client.call("tools/call", { name: "search_contacts", arguments: { query: "emilie" } })).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining("Émilie du Châtelet") }],
    });
    const contact = { name: `Ünïque ${revision}`, notes: "x".repeat(9_000) };
    expect(await client.call("tools/call", { name: "add_contact", arguments: contact })).not.toHaveProperty("isError");
    const { contents } = (await client.call("resources/read", { uri: "contacts:/all" })) as {
      readonly contents: readonly { readonly text: string }[];
    };
    expect(contents[0]?.text).toContain(contact.name);
    expect(client.sessionId !== undefined).toBe(platform !== "a worker" && revision !== latest.version);
  });

  test("are deleted when a person agrees, who is asked between two requests", async () => {
    const client = await HttpClient.open(url, latest.version);
    const remove = { name: "delete_contact", arguments: { id: 2 } };
    const asked = await client.call("tools/call", remove);
    expect(asked).toMatchObject({ resultType: "input_required" });
    const [key = ""] = Object.keys(asked?.inputRequests as object);
    const inputResponses = { [key]: { action: "accept", content: { delete: true } } };
    const { requestState } = asked as { readonly requestState: string };
    expect(await client.call("tools/call", { ...remove, requestState, inputResponses })).toMatchObject({
      structuredContent: { deleted: 1 },
    });
  });

  test("are watched by one client, while another changes them", async () => {
    const watching = await HttpClient.open(url, latest.version);
    const gone = new AbortController();
    const notifications = { resourcesListChanged: true };
    const { body } = await watching.ask("subscriptions/listen", { notifications }, gone.signal);
    const events = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await events?.read())?.value).toContain("notifications/subscriptions/acknowledged");
    const other = await HttpClient.open(url, latest.version);
    await other.call("tools/call", { name: "add_contact", arguments: { name: "News" } });
    expect((await events?.read())?.value).toContain("notifications/resources/list_changed");
    gone.abort();
    await expect(events?.closed).rejects.toThrow();
  });

  test("are served to whom asks for them by a known name, and not to pages that point their own name here", async () => {
    expect(await statusFor(url, "contacts.example.com")).toBe(platform === "a worker" ? 405 : 400);
    expect(await statusFor(url, "rebound.example.com")).toBe(403);
  });
});

test.skipIf(!isInstalled).each(["express.js", "fastify.js", "hono.js"])(
  "%s ends when it is told to, although a client listens",
  async (file) => {
    await using program = await node(file);
    const client = await HttpClient.open(urlIn(program, "/mcp"), latest.version);
    const { body } = await client.ask("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const all = new Response(body).text();
    expect(await program.end()).toBe("");
    expect(await all).toContain("acknowledged");
  },
);

test.skipIf(!isInstalled)("a body that is no JSON is for the server to refuse, in front of a body parser", async () => {
  await using program = await node("express.js");
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const refused = async (path: string): Promise<string> =>
    (await fetch(urlIn(program, path), { method: "POST", headers, body: "{" })).text();
  expect(JSON.parse(await refused("/mcp"))).toMatchObject({ error: { code: -32700 } });
  expect(await refused("/parsed/contacts")).toMatch(/^<!DOCTYPE html>/);
});

/** The status of a GET that names a host; `fetch` would name that of the URL. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, accept: "text/event-stream" };
    get(url, { headers }, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
}
