import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

// Programs of the guides that docs.test.ts cannot run as they stand, with the tag `typescript`: tests, which need a test runner,
// and programs of frameworks, which are those of an example that has tests of its own.

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

interface Program {
  readonly name: string;
  readonly code: string;
}

async function programsOf(page: string): Promise<readonly Program[]> {
  const text = await readFile(join(root, "docs", page), "utf8");
  return [...text.matchAll(/```(?:ts|typescript)\n\/\/ (?<name>\S+)\n(?<code>.*?)```/gs)].map(({ groups = {} }) => {
    const { name = "", code = "" } = groups;
    return { name, code };
  });
}

const pages = [
  { page: "start/test.md", passed: 9 },
  { page: "guides/json-rpc.md", passed: 1 },
];

describe.each(pages)("the tests of $page", ({ page, passed }) => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(root, "test", ".snippets-")); // Inside the repository, so that its packages are found.
    const compilerOptions = { module: "nodenext", target: "es2022", strict: true, types: ["node"], skipLibCheck: true };
    const files: readonly Program[] = [
      ...(await programsOf(page)),
      { name: "package.json", code: JSON.stringify({ type: "module" }) },
      { name: "tsconfig.json", code: JSON.stringify({ compilerOptions }) },
      { name: "vitest.config.js", code: 'export default { test: { include: ["*.test.ts"] } };' },
    ];
    await Promise.all(files.map(({ name, code }) => writeFile(join(folder, name), code)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("compile under strict, and pass in vitest", { timeout: 120_000 }, async () => {
    const bin = join(root, "node_modules/.bin");
    await run(join(bin, "tsc"), ["-p", folder], { cwd: folder });
    const args = ["run", "--root", folder, "--reporter=json"];
    const { stdout: report } = await run(join(bin, "vitest"), args, { cwd: folder });
    expect(JSON.parse(report)).toMatchObject({ success: true, numPassedTests: passed });
  });

  if (page !== "start/test.md") return;
  test("pass in node:test", async () => {
    const args = ["--test", "--test-reporter=tap", "server.node-test.js"];
    const { stdout } = await run(process.execPath, args, { cwd: folder });
    expect(stdout).toContain("# pass 3\n");
  });
});

test.each(["guides/bun-deno.md", "guides/express.md", "guides/frameworks.md", "guides/workers.md"])(
  "the programs of %s are those of the example",
  async (page) => {
    const programs = (await programsOf(page)).filter(({ name }) => !name.includes("/"));
    expect(programs.length).toBeGreaterThan(0);
    for (const { name, code } of programs)
      expect(code, name).toBe(await readFile(join(root, "examples/http-adapters", name), "utf8"));
  },
);

test("the protected server of five minutes serves until it is stopped, and shows who signs users in", async () => {
  const [program] = (await programsOf("guides/authorization.md")).filter(({ name }) => name === "notes-server.ts");
  const folder = await mkdtemp(join(root, "test", ".snippets-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "notes-server.mjs"); // It has no types.
  await writeFile(file, program?.code ?? "");
  const server = spawn(process.execPath, [file], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  const url = new URL(String(line).trim());
  const metadata = await fetch(new URL(`/.well-known/oauth-protected-resource${url.pathname}`, url));
  expect(await metadata.json()).toMatchObject({
    resource: url.href,
    authorization_servers: [url.origin],
    scopes_supported: ["notes", "notes:write"],
  });
});
