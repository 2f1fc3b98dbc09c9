import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { serverLimits } from "@parlance/mcp/jsonrpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Every JavaScript fence of README and docs is a file: its first line is a comment with the name. They all lie in one
// folder, so that they can import one another, and each runs as it stands. A ```text fence right behind a snippet is what it prints.

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");

interface Snippet {
  readonly page: string;
  readonly name: string;
  readonly code: string;
  readonly printed: string | undefined;
}

const fence = /```js\n\/\/ (?<name>[\w-]+\.js)\n(?<code>.*?)```(?:\n\n?```text\n(?<printed>.*?)```)?/gsu;

async function snippetsOf(page: string): Promise<readonly Snippet[]> {
  const text = await readFile(join(root, page), "utf8");
  const named = [...text.matchAll(fence)].map(({ groups = {} }) => {
    const { name = "", code = "", printed } = groups;
    return { page, name, code, printed };
  });
  expect(named.length, `every js fence of ${page} begins with a comment that names its file`).toBe(
    text.split("```js\n").length - 1,
  );
  return named;
}

const docs = (await readdir(join(root, "docs"))).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`);
const pages = ["README.md", ...docs];
const snippets = (await Promise.all(pages.map(snippetsOf))).flat();
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(root, "test", ".snippets-")); // Inside the repository, so that its packages are found.
  await Promise.all(snippets.map(({ name, code }) => writeFile(join(folder, name), code)));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test("the names of the snippets do not collide", () => {
  const names = snippets.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

describe.each(snippets)("$page: $name", ({ name, printed }) => {
  test("runs, and prints what the page says", async () => {
    // Its input is at its end at once, so a server ends by itself.
    const running = run(process.execPath, [name], { cwd: folder });
    running.child.stdin?.end();
    const { stdout, stderr } = await running;
    expect(stderr).toBe("");
    if (printed !== undefined) expect(stdout).toBe(printed);
  });
});

test("the page on limits names every limit with its default", async () => {
  const page = await readFile(join(root, "docs/limits.md"), "utf8");
  for (const [name, value] of Object.entries(serverLimits)) {
    expect(page).toContain(`| \`${name}\` | ${value.toLocaleString("en")} |`);
  }
});
