import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { serverLimits } from "@parlance/mcp/jsonrpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Every JavaScript fence of README and docs is a file: its first line is a comment with the name. They all lie in one
// folder, so that they can import one another, and each runs as it stands. A ```text fence right after a snippet is what it
// prints; one without prints nothing, and says with `assert` what holds, or is a server that other programs start.
//
// A snippet can fail and print nothing of it: a call of a wrong argument gives a result that says so, and is counted. So a
// spy (test/fixtures/failure-spy.js) writes down every error and every result with `isError` that crosses, and the page has to
// show what it says.

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

interface Snippet {
  readonly page: string;
  readonly name: string;
  readonly code: string;
  readonly printed: string | undefined;
}

/** A failure that has crossed between a client and a server: its code, undefined for a result, and what it says. */
interface Failure {
  readonly code?: number;
  readonly words: string;
  readonly reason?: string;
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
const spy = pathToFileURL(join(root, "test/fixtures/failure-spy.js")).href;
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

/** Programs for others to start, which neither print nor say what holds. */
const programs: ReadonlySet<string> = new Set([
  "README.md: server.js",
  "docs/debug-a-server.md: weather.js",
  "docs/debug-a-server.md: mended-weather.js",
]);

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly failures: readonly Failure[];
}

async function runSnippet(name: string): Promise<Run> {
  const written = join(folder, `${name}.failures`);
  const env = { ...process.env, PARLANCE_FAILURES: written };
  const running = run(process.execPath, ["--import", spy, name], { cwd: folder, env });
  running.child.stdin?.end(); // Its input is at its end at once, so a server ends by itself.
  const { stdout, stderr } = await running;
  const lines = await readFile(written, "utf8").catch(() => ""); // Nothing has failed: it was not written.
  return {
    stdout,
    stderr,
    failures: lines
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Failure),
  };
}

/** Whether a text says that it has failed: by the first line of its words, by its reason, or by its code. */
function isShown({ code, words, reason }: Failure, text: string): boolean {
  const [firstLine = words] = words.split("\n");
  const signs = [firstLine, reason, code].filter((sign) => sign !== undefined && sign !== "");
  return signs.some((sign) => text.includes(String(sign)));
}

describe.each(snippets)("$page: $name", ({ page, name, code, printed }) => {
  test("runs, prints what the page says, and fails in nothing that the page does not show", async () => {
    const { stdout, stderr, failures } = await runSnippet(name);
    expect(stderr).toBe("");
    expect(stdout, "a snippet that prints has a text fence, which shows it").toBe(printed ?? "");
    const shown = `${stdout}${/\bassert\b/.test(code) ? code : ""}`;
    expect(failures.filter((failure) => !isShown(failure, shown))).toEqual([]);
  });

  test("shows what it does, or asserts it", () => {
    const says = printed !== undefined || /\bassert\b/.test(code) || programs.has(`${page}: ${name}`);
    expect(says, "it has a text fence right after it, or uses node:assert").toBe(true);
  });
});

describe("B10: the test of the snippets notices", () => {
  const call = (printing: string): string => `
    import { connect } from "@parlance/mcp/client";
    import { createServer } from "@parlance/mcp/server";
    const server = createServer({ name: "adder", version: "1.0.0" });
    server.tool("add", { inputSchema: { type: "object", required: ["a"] } }, ({ a }) => String(a));
    server.tool("break", {}, () => ({ content: [{ type: "txt" }] }));
    const client = await connect(server);
    ${printing}
    await client.close();`;
  const rows = [
    [
      "a result with isError that nobody looks at",
      'await client.tools.call("add");',
      { words: expect.stringContaining("Invalid arguments for tool add") },
    ],
    [
      "an error that is swallowed",
      'await client.tools.call("gone").catch(() => undefined);',
      { code: -32_602, words: "Unknown tool: gone" },
    ],
  ] as const;

  test.each(rows)("%s", async (what, printing, failure) => {
    const name = `${what.replaceAll(" ", "-")}.js`;
    await writeFile(join(folder, name), call(printing));
    const { stdout, failures } = await runSnippet(name);
    expect(failures).toEqual([failure]);
    expect(failures.every((each) => isShown(each, stdout))).toBe(false);
    expect(failures.every((each) => isShown(each, `it says: ${failures[0]?.words}`))).toBe(true);
  });

  test("what a program writes to standard error", async () => {
    const name = "to-standard-error.js";
    await writeFile(join(folder, name), 'console.error("oh");');
    expect((await runSnippet(name)).stderr).toBe("oh\n");
  });
});

test("the page on limits names every limit with its default", async () => {
  const page = await readFile(join(root, "docs/limits.md"), "utf8");
  for (const [name, value] of Object.entries(serverLimits)) {
    expect(page).toContain(`| \`${name}\` | ${value.toLocaleString("en")} |`);
  }
});

test("the page on how it works names files that exist", async () => {
  const page = await readFile(join(root, "docs/how-it-works.md"), "utf8");
  const named = Array.from(page.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.ts)`/g), ([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(40);
  const missing = named.filter((path) => !["packages/mcp/src", "."].some((base) => existsSync(join(root, base, path))));
  expect(missing).toEqual([]);
});
