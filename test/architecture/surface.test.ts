import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { describeEntry, readSurface } from "./surface.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const entries = readSurface(root);

/** `@parlance/mcp/server` is pinned in `etc/api/mcp-server.md`. */
function pinOf(specifier: string): string {
  return `${specifier.replace("@parlance/", "").replaceAll("/", "-")}.md`;
}

test.each(entries)("$specifier is as pinned in etc/api: after a change, run `npm run api`", async (entry) => {
  await expect(describeEntry(entry)).toMatchFileSnapshot(join(root, "etc/api", pinOf(entry.specifier)));
});

const declared = entries.flatMap(({ names, specifier }) => names.filter(({ home }) => home === specifier));

test("each name has a sentence, and each function an example", () => {
  expect(declared.filter(({ doc }) => doc === "").map(({ name }) => name)).toEqual([]);
  const functions = declared.filter(({ isFunction }) => isFunction);
  expect(functions.filter(({ doc }) => !doc.includes("@example")).map(({ name }) => name)).toEqual([]);
});

test("each member that a user can reach has a sentence, and each option its default", () => {
  expect([...new Set(declared.flatMap(({ undocumented }) => undocumented))].sort()).toEqual([]);
});

test("a name has one meaning: entries that share it export the same thing", () => {
  const doubled = declared.filter(({ name, home }) =>
    declared.some((other) => other.name === name && other.home !== home),
  );
  expect(doubled.map(({ name, home }) => `${name} of ${home}`)).toEqual([]);
});

// Authorization is a subject of its own, with entries of its own, that most readers never open.
test("a reader of the entries meets at most 300 names, beside those of authorization", () => {
  const read = entries.filter(({ specifier }) => !specifier.startsWith("@parlance/mcp/auth"));
  const names = new Set(read.flatMap((each) => each.names.map(({ name }) => name)));
  expect(names.size).toBeLessThanOrEqual(300);
});
