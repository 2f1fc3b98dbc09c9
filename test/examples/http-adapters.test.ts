import { existsSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { handshakeVersions, latest, latestHandshake } from "@parlance/mcp";
import { connect, type InputHandlers } from "@parlance/mcp/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../testing/forms.js";
import { initialize, modern, stateless } from "../testing/frames.js";
import { ask } from "./contacts-client.js";
import { Program } from "./program.js";

// The platforms are installed by `npm ci --prefix examples/http-adapters`; without them these tests are skipped. Bun and Deno
// come for one kind of machine.

const folder = join(import.meta.dirname, "../../examples/http-adapters");
const isInstalled = existsSync(join(folder, "node_modules"));
const hasRuntimes = isInstalled && process.platform === "linux" && process.arch === "x64";

function node(file: string): Promise<Program> {
  return Program.start(process.execPath, [file], { cwd: folder });
}

/** The runtime of Cloudflare's workers; it bundles what it is given as the platform does. */
function worker(config = "wrangler.local.jsonc"): Promise<Program> {
  const { default: workerd } = createRequire(join(folder, "worker.js"))("workerd") as { readonly default: string };
  const args = ["serve", config, "--socket-addr", "http=127.0.0.1:0", "--control-fd=1"];
  // Found by itself only from where the configuration is.
  const env = { WORKERD_ESBUILD: join(folder, "node_modules/.bin/esbuild") };
  return Program.start(workerd, args, { cwd: folder, env });
}

function bun(): Promise<Program> {
  return Program.start(join(folder, "node_modules/@oven/bun-linux-x64/bin/bun"), ["bun.js"], { cwd: folder });
}

function deno(): Promise<Program> {
  // With the last one it does not warn that requests are aborted when they are over, which is the same to us.
  const flags = ["--allow-env", "--allow-net", "--unstable-no-legacy-abort"];
  return Program.start(join(folder, "node_modules/@deno/linux-x64-glibc/deno"), ["run", ...flags, "deno.js"], {
    cwd: folder,
  });
}

/** Where a program says that it serves: with a URL, or as workerd does. */
function urlIn({ line }: Program, path: string): string {
  const port = /^\{.*"port":(\d+)/.exec(line)?.[1];
  return new URL(path, port === undefined ? line : `http://127.0.0.1:${port}`).href;
}

const express = (): Promise<Program> => node("express.js");

interface Platform {
  readonly name: string;
  readonly isThere: boolean;
  readonly start: () => Promise<Program>;
  readonly path?: string;
}

/** Those with `isLong` are of the long form: the short one has one that parses the body, one with `fetch` in Node, and one without Node. */
const platforms: readonly Platform[] = [
  { name: "Express", isThere: isInstalled && isLong, start: express },
  { name: "Express behind its body parser", isThere: isInstalled, start: express, path: "/parsed/contacts" },
  { name: "Fastify", isThere: isInstalled && isLong, start: () => node("fastify.js") },
  { name: "Hono", isThere: isInstalled, start: () => node("hono.js") },
  { name: "Bun", isThere: hasRuntimes && isLong, start: bun },
  { name: "Deno", isThere: hasRuntimes && isLong, start: deno },
  { name: "a worker", isThere: isInstalled, start: () => worker() },
];

/** 2024-11-05 is on HTTP+SSE, which is off. */
const revisions = [latest.version, ...handshakeVersions.filter((version) => version !== "2024-11-05")];

for (const { name, isThere, start, path = "/mcp" } of platforms)
  describe.skipIf(!isThere)(`the contacts in ${name}`, () => {
    const isWorker = name === "a worker";
    let program: Program;
    let url: string;
    beforeAll(async () => {
      program = await start();
      url = urlIn(program, path);
    });
    afterAll(() => program?.[Symbol.asyncDispose]());

    test.each(revisions)("are listed, found and added by clients of %s", async (revision) => {
      await using client = await connect(url, { revision });
      expect((await client.tools.list().all()).map(({ name }) => name)).toContain("import_contacts");
      expect(await ask(client, "search_contacts", { query: "emilie" })).toMatchObject({
        contacts: [{ name: "Émilie du Châtelet" }],
      });
      const contact = { name: `Ünïque ${revision}`, notes: "x".repeat(9_000) };
      expect(await ask(client, "add_contact", contact)).toMatchObject(contact);
      const { contents } = await client.resources.read("contacts:/all");
      expect(contents).toMatchObject([{ text: expect.stringContaining(contact.name) }]);
    });

    test("are deleted when a person agrees, who is asked between two requests", async () => {
      const asked: string[] = [];
      const answers: InputHandlers = {
        elicitation({ message }) {
          asked.push(message);
          return { action: "accept", content: { delete: true } };
        },
      };
      await using client = await connect(url, { handlers: answers });
      expect(client.revision).toBe(latest.version);
      expect(await client.tools.call("delete_contact", { id: 2 })).toMatchObject({ structuredContent: { deleted: 1 } });
      expect(asked).toEqual(["Delete Charles Babbage (contact 2)?"]);
    });

    test("are watched by one client, while another changes them", async () => {
      await using watching = await connect(url);
      const changes = await watching.subscribe({ resourcesListChanged: true });
      await using other = await connect(url);
      await ask(other, "add_contact", { name: "News" });
      for await (const change of changes) {
        expect(change).toEqual({ kind: "list", list: "resources" });
        break;
      }
    });

    test("are kept in a session for clients of the revisions that have them, but not in a worker", async () => {
      const response = await post(url, initialize(latestHandshake.version));
      expect(response.status).toBe(200);
      expect(response.headers.has("mcp-session-id")).toBe(!isWorker);
      await response.text();
    });

    test("are served for allowed host names only, and not to pages of a rebound name", async () => {
      expect(await statusFor(url, "contacts.example.com")).toBe(isWorker ? 405 : 400);
      expect(await statusFor(url, "rebound.example.com")).toBe(403);
    });

    // A worker is not told that it ends.
    if (isWorker) return;
    test("end when they are closed, although a client is subscribed", async () => {
      await using program = await start();
      const { body } = await listen(urlIn(program, path));
      const all = new Response(body).text();
      expect(await program.end()).toBe("");
      expect(await all).toContain("acknowledged");
    });
  });

test.skipIf(!isInstalled)("a body that is no JSON is for the server to refuse, in front of a body parser", async () => {
  await using program = await node("express.js");
  const refused = async (path: string): Promise<string> => (await post(urlIn(program, path), "{")).text();
  expect(JSON.parse(await refused("/mcp"))).toMatchObject({ error: { code: -32700 } });
  expect(await refused("/parsed/contacts")).toMatch(/^<!DOCTYPE html>/);
});

test.skipIf(!isInstalled)(
  "in a worker, subscribers are still notified after the first client has disconnected",
  async () => {
    await using program = await worker(join(import.meta.dirname, "../fixtures/worker/wrangler.jsonc"));
    const url = urlIn(program, "/mcp");
    const gone = new AbortController();
    const first = await eventsOf(await listen(url, gone.signal));
    const second = await eventsOf(await listen(url));
    gone.abort();
    await expect(untilEnd(first)).rejects.toThrow();
    // Everything that a request has set, its timers too, ends with it: three more signs of life are those of the other.
    for (let sign = 0; sign < 3; sign += 1) expect((await second.read()).value).toContain(": keep-alive");
    await using client = await connect(url);
    await client.tools.call("news");
    let heard = "";
    while (!heard.includes("tools/list_changed")) heard += (await second.read()).value;
    await second.cancel();
  },
);

function post(url: string, body: string, init: RequestInit = {}): Promise<Response> {
  const types = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return fetch(url, { method: "POST", body, ...init, headers: { ...types, ...init.headers } });
}

/** Listens for changes of tools, byte by byte. */
function listen(url: string, signal: AbortSignal | null = null): Promise<Response> {
  const headers = { "mcp-protocol-version": modern, "mcp-method": "subscriptions/listen" };
  const body = stateless("listening", "subscriptions/listen", { notifications: { toolsListChanged: true } });
  return post(url, body, { headers, signal });
}

/** The text of a stream, once it says that it listens. */
async function eventsOf({ body }: Response): Promise<ReadableStreamDefaultReader<string>> {
  // `fetch` gives bytes.
  const bytes = body as ReadableStream<Uint8Array<ArrayBuffer>>;
  const events = bytes.pipeThrough(new TextDecoderStream()).getReader();
  expect((await events.read()).value).toContain("acknowledged");
  return events;
}

/** Reads a stream to its end: one through a transform only fails once what came before has been read. */
async function untilEnd(events: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await events.read()).done);
}

/** The status of a GET that names a host; `fetch` would name that of the URL. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, accept: "text/event-stream" };
    get(url, { headers }, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
}
