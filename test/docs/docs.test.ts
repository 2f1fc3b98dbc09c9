import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { serverLimits } from "@parlance/mcp/jsonrpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../testing/forms.js";

// Every TypeScript or JavaScript fence of README and docs is a file: its first line is a comment with the name. Those of one
// page lie in one folder, so that they can import one another. TypeScript compiles under `strict`, with the options that the
// guides recommend; each snippet runs as it stands. A ```text fence right after a snippet is what it prints; one without prints
// nothing, and says with `assert` what holds, or is a server that other programs start.
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

const fence =
  /```(?<tag>js|ts)\n\/\/ (?<name>[\w-]+\.\k<tag>)\n(?<code>.*?)```(?:\n\n?```text\n(?<printed>.*?)```)?/gsu;

async function snippetsOf(page: string): Promise<readonly Snippet[]> {
  const text = await readFile(join(root, page), "utf8");
  const named = [...text.matchAll(fence)].map(({ groups = {} }) => {
    const { name = "", code = "", printed } = groups;
    return { page, name, code, printed };
  });
  expect(named.length, `every js or ts fence of ${page} begins with a comment that names its file`).toBe(
    text.split(/^```(?:js|ts)$/m).length - 1,
  );
  return named;
}

const files = await readdir(join(root, "docs"), { recursive: true });
const docs = files.filter((name) => name.endsWith(".md") && !isGenerated(name)).map((name) => `docs/${name}`);
const pages = ["README.md", ...docs];
const snippets = (await Promise.all(pages.map(snippetsOf))).flat();
const inTurn = join(root, "test/fixtures/programs-in-turn.js");
const spy = pathToFileURL(join(root, "test/fixtures/failure-spy.js")).href;
let folder = "";
let faults: readonly string[] = [];

/** The site, and the pages that are made from the doc comments. */
function isGenerated(name: string): boolean {
  return /^(?:\.vitepress|node_modules|reference.api)\b/.test(name);
}

function folderOf(page: string): string {
  return join(folder, page.replaceAll(/\W/g, "-"));
}

/** The options that the guides tell users to write. */
const compilerOptions = {
  module: "nodenext",
  target: "es2022",
  strict: true,
  types: ["node"],
};

beforeAll(async () => {
  folder = await mkdtemp(join(root, "test", ".snippets-")); // Inside the repository, so that its packages are found.
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  await Promise.all(
    snippets.map(async ({ page, name, code }) => {
      await mkdir(folderOf(page), { recursive: true });
      await writeFile(join(folderOf(page), name), code);
    }),
  );
  faults = await compile("node_modules/typescript/bin/tsc");
  await Promise.all(snippets.filter(({ name }) => name.endsWith(".ts")).map(startCompiled));
  const together = snippets.filter(isRunTogether);
  await Promise.all(together.map((snippet) => cp(folderOf(snippet.page), ownFolderOf(snippet), { recursive: true })));
  if (together.length > 0) alongside = await runInTurn(together.map(ownPathOf));
}, 600_000);

/** Further output of the process that runs several snippets: none, unless Node itself prints something. */
let alongside = "";

/**
 * In the short form, the snippets that use nothing of their process run in one process, which takes a fifth of the time. Each has a copy
 * of the folder of its page, so that it loads the other files of the page anew.
 */
function isRunTogether({ page, name, code }: Snippet): boolean {
  return !isLong && !programs.has(`${page}: ${name}`) && !/\bprocess\b|serveStdio|node:worker/.test(code);
}

/** Whether a snippet is a program that another one of its page starts or imports: the short form leaves it to that one. */
function isRunByAnother({ page, name }: Snippet): boolean {
  const words = [`"${name}"`, `"./${name}"`, `"./${parse(name).name}.js"`];
  return (
    programs.has(`${page}: ${name}`) &&
    snippets.some(
      (other) => other.page === page && other.name !== name && words.some((each) => other.code.includes(each)),
    )
  );
}

function ownFolderOf({ page, name }: Snippet): string {
  return `${folderOf(page)}-${parse(name).name}`;
}

function ownPathOf(snippet: Snippet): string {
  return join(ownFolderOf(snippet), `${parse(snippet.name).name}.js`);
}

/** Runs programs one after the other in one process. Returns what that has written besides the output of the programs. */
async function runInTurn(paths: readonly string[]): Promise<string> {
  const running = run(process.execPath, ["--import", spy, inTurn, ...paths], { timeout: 300_000 });
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return `${stdout}${stderr}`;
}

/** The outcome of a program of `runInTurn`. Rejects for one that was not run to its end. */
async function runOf(path: string): Promise<Run> {
  const { stdout, stderr } = JSON.parse(await readFile(`${path}.run`, "utf8")) as Pick<Run, "stdout" | "stderr">;
  return { stdout, stderr, failures: await failuresIn(`${path}.failures`) };
}

/** Where a snippet starts another of its page (`node server.ts`), starts the compiled one: the oldest Node runs no TypeScript. */
async function startCompiled({ page, name }: Snippet): Promise<void> {
  const path = join(folderOf(page), `${parse(name).name}.js`);
  const others = snippets.filter((other) => other.page === page).map((other) => other.name);
  const code = await readFile(path, "utf8");
  const started = others.reduce((text, other) => text.replaceAll(`"${other}"`, `"${parse(other).name}.js"`), code);
  await writeFile(path, started);
}

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a compiler on all snippets. Returns the lines in which it names a fault. */
function compile(compiler: string, ...flags: readonly string[]): Promise<readonly string[]> {
  const args = [join(root, compiler), "-p", folder, "--pretty", "false", ...flags];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (_error, stdout) => {
      resolve(stdout.split("\n").filter((line) => line.includes("error TS")));
    });
  });
}

test("the snippets in TypeScript compile under strict", () => {
  expect(faults).toEqual([]);
});

const older = "test/interop/node_modules/typescript/bin/tsc";

test.skipIf(!isLong || !existsSync(join(root, older)))(
  "TypeScript 5.9, installed by npm ci --prefix test/interop, compiles them too",
  { timeout: 600_000 },
  async () => {
    expect(await compile(older, "--noEmit")).toEqual([]);
  },
);

test("the names of the snippets of a page do not collide", () => {
  const names = snippets.map(({ page, name }) => `${page}: ${parse(name).name}`);
  expect(names).toEqual([...new Set(names)]);
});

/** Programs for others to start, which neither print nor say what holds. */
const programs: ReadonlySet<string> = new Set([
  "README.md: server.ts",
  "docs/start/client.md: server.ts",
  "docs/start/look.md: server.ts",
  "docs/start/server.md: server.ts",
  "docs/guides/database.md: main.ts",
  "docs/guides/database.md: notes.ts",
  "docs/guides/stdio.md: tide.ts",
  "docs/guides/json-rpc.md: calculator.ts",
  "docs/guides/json-rpc.md: service.ts",
  "docs/guides/transports.md: clock-worker.js",
  "docs/start/test.md: main.ts",
  "docs/start/test.md: server.ts",
  "docs/migrate/fastmcp.md: notes.ts",
  "docs/migrate/mcp-lite.md: notes.ts",
  "docs/migrate/sdk-v1.md: notes.ts",
  "docs/migrate/sdk-v2.md: notes.ts",
  "docs/guides/debug.md: weather.js",
  "docs/guides/debug.md: mended-weather.js",
]);

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly failures: readonly Failure[];
}

async function runSnippet(cwd: string, name: string): Promise<Run> {
  const written = join(cwd, `${name}.failures`);
  const env = { ...process.env, PARLANCE_FAILURES: written };
  const running = run(process.execPath, ["--import", spy, `${parse(name).name}.js`], { cwd, env });
  running.child.stdin?.end(); // Its input is at its end at once, so a server ends by itself.
  const { stdout, stderr } = await running;
  return { stdout, stderr, failures: await failuresIn(written) };
}

async function failuresIn(path: string): Promise<readonly Failure[]> {
  const lines = await readFile(path, "utf8").catch(() => ""); // Nothing has failed: it was not written.
  return lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Failure);
}

/** Whether a text says that it has failed: by the first line of its words, by its reason, or by its code. */
function isShown({ code, words, reason }: Failure, text: string): boolean {
  const [firstLine = words] = words.split("\n");
  const signs = [firstLine, reason, code].filter((sign) => sign !== undefined && sign !== "");
  return signs.some((sign) => text.includes(String(sign)));
}

test("a process that runs several snippets writes nothing of its own", () => {
  expect(alongside).toBe("");
});

describe.each(snippets)("$page: $name", (snippet) => {
  const { page, name, code, printed } = snippet;

  test.skipIf(!isLong && isRunByAnother(snippet))(
    "runs, prints what the page says, and fails in nothing that the page does not show",
    async () => {
      const { stdout, stderr, failures } = isRunTogether(snippet)
        ? await runOf(ownPathOf(snippet))
        : await runSnippet(folderOf(page), name);
      expect(stderr).toBe("");
      expect(stdout, "a snippet that prints has a text fence, which shows it").toBe(printed ?? "");
      const shown = `${stdout}${/\bassert\b/.test(code) ? code : ""}`;
      expect(failures.filter((failure) => !isShown(failure, shown))).toEqual([]);
    },
  );

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
      "a result with isError that the code ignores",
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
    const { stdout, failures } = await runSnippet(folder, name);
    expect(failures).toEqual([failure]);
    expect(failures.every((each) => isShown(each, stdout))).toBe(false);
    expect(failures.every((each) => isShown(each, `it says: ${failures[0]?.words}`))).toBe(true);
  });

  test("what a program writes to standard error", async () => {
    const name = "to-standard-error.js";
    await writeFile(join(folder, name), 'console.error("oh");');
    expect((await runSnippet(folder, name)).stderr).toBe("oh\n");
  });

  test("the same of programs that run in one process, each for itself", async () => {
    const bodies = [
      call('await client.tools.call("add");'),
      'setTimeout(() => console.log("later"), 1);',
      'console.error("oh");',
      'throw new Error("thrown");',
      'queueMicrotask(() => { throw new Error("uncaught"); });',
      "await new Promise(() => undefined);",
      "process.exitCode = 3;",
      'console.log("last");',
    ];
    const paths = bodies.map((_, at) => join(folder, `in-turn-${at}.js`));
    await Promise.all(bodies.map((body, at) => writeFile(paths[at] ?? "", body)));
    expect(await runInTurn(paths)).toBe("");
    const nothing = { stdout: "", stderr: "", failures: [] };
    expect(await Promise.all(paths.map(runOf))).toEqual([
      { ...nothing, failures: [{ words: expect.stringContaining("Invalid arguments for tool add") }] },
      { ...nothing, stdout: "later\n" },
      { ...nothing, stderr: "oh\n" },
      { ...nothing, stderr: expect.stringContaining("Error: thrown") },
      { ...nothing, stderr: expect.stringContaining("Error: uncaught") },
      { ...nothing, stderr: "a top-level await was never settled\n" },
      { ...nothing, stderr: "the exit code is 3\n" },
      { ...nothing, stdout: "last\n" },
    ]);
  });
});

test("the page on limits names every limit with its default", async () => {
  const page = await readFile(join(root, "docs/reference/limits.md"), "utf8");
  for (const [name, value] of Object.entries(serverLimits)) {
    expect(page).toContain(`| \`${name}\` | ${value.toLocaleString("en")} |`);
  }
});

test("the page on how it works names files that exist", async () => {
  const page = await readFile(join(root, "docs/design/how-it-works.md"), "utf8");
  const named = Array.from(page.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.ts)`/g), ([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(40);
  const missing = named.filter((path) => !["packages/mcp/src", "."].some((base) => existsSync(join(root, base, path))));
  expect(missing).toEqual([]);
});
