import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

// The required parts of every page, by which readers find it: search engines show the description, and the site the first heading.

const docs = join(import.meta.dirname, "../../docs");
const files = await readdir(docs, { recursive: true });
const pages = files
  .filter((name) => name.endsWith(".md") && !/^(?:\.vitepress|node_modules|reference.api)\b/.test(name))
  .map((name) => ({ name: name.replaceAll("\\", "/"), path: join(docs, name) }));

/** The lines of a page, at most; the pages with more, and why. */
const mostLines = 200;
const long: ReadonlyMap<string, string> = new Map([
  ["design/performance.md", "the tables of one benchmark, with its method"],
  ["guides/debug.md", "one session with a broken server, from the first message to the replay"],
  ["guides/inspector.md", "every view of the page, with its picture"],
  ["reference/rules.md", "a table with one row for each rule"],
  ["reference/commands/replay.md", "written from the help pages of the command"],
  ["reference/commands/call.md", "written from the help pages of the command"],
  ["reference/commands/connect.md", "written from the help pages of the command"],
  ["reference/commands/read.md", "written from the help pages of the command"],
]);

describe.each(pages)("docs/$name", ({ name, path }) => {
  test("has a description and one title, and is short", async () => {
    const text = await readFile(path, "utf8");
    const [, matter = ""] = /^---\n(.*?)\n---\n/s.exec(text) ?? [];
    expect(matter, "a description in the front matter").toMatch(/^description: .{40,}$/m);
    const titles = text.replaceAll(/^```.*?^```/gms, "").match(/^# .+$/gm) ?? [];
    // The home page has its title in the front matter.
    expect(titles).toHaveLength(/^layout: home$/m.test(matter) ? 0 : 1);
    if (!long.has(name)) expect(text.split("\n").length - 1).toBeLessThanOrEqual(mostLines);
  });
});

/** The words that readers search for. The search of the site ranks titles first. */
const searched =
  "install quickstart server client tool resource prompt elicitation sampling transport session reconnect authorization oauth login token deploy docker test migrate troubleshoot debug inspector claude_desktop vs_code cursor streamable_http sse stdio websocket timeout limit logging progress cancel pagination cors proxy schema typescript zod bun deno cloudflare next.js express fastify hono json-rpc";

test.each(searched.split(" ").map((word) => word.replace("_", " ")))("a title has the word %s", async (word) => {
  const titles = pages.map(async ({ path }) => /^# .+$/m.exec(await readFile(path, "utf8"))?.[0] ?? "");
  expect((await Promise.all(titles)).filter((title) => title.toLowerCase().includes(word))).not.toEqual([]);
});

test("the exceptions are pages that exist", () => {
  expect([...long.keys()].filter((name) => !pages.some((page) => page.name === name))).toEqual([]);
});
