import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { runtimes } from "../portable/runtimes.js";

// The README as a new user follows it: a folder made by `npm init`, our packages as npm would deliver them, and its programs
// pasted, with Node's own type stripping, with tsx on the oldest Node, and in JavaScript.

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const installed = join(root, "test/portable/node_modules");
const isInstalled = process.platform === "linux" && process.arch === "x64" && existsSync(installed);

function nodeBinary(name: string): string {
  const { package: folder = "", binary = "" } = runtimes.find((runtime) => runtime.name === name) ?? {};
  return join(installed, folder, binary);
}

const tsx = join(installed, "tsx/dist/cli.mjs");

const ways = [
  { name: "Node's own type stripping", command: nodeBinary("Node.js 22"), args: [], ending: "ts" },
  { name: "tsx on the oldest Node", command: nodeBinary("Node.js 20"), args: [tsx], ending: "ts" },
  { name: "JavaScript on the oldest Node", command: nodeBinary("Node.js 20"), args: [], ending: "js" },
] as const;

describe.skipIf(!isInstalled)("the README in a folder made by npm init", () => {
  let folder = "";
  let command = "";
  /** The output of the client, according to the README. */
  let printed = "";

  beforeAll(async () => {
    const readme = await readFile(join(root, "README.md"), "utf8");
    for (const line of ["npm init -y && npm pkg set type=module", "npm install @parlance/mcp zod"])
      expect(readme).toContain(`${line}\n`);
    folder = await mkdtemp(join(tmpdir(), "parlance-readme-"));
    const [mcp = "", wire = "", cli = ""] = await packed(["mcp", "wire", "cli"]);
    await run("npm", ["init", "-y"], { cwd: folder });
    await run("npm", ["pkg", "set", "type=module"], { cwd: folder });
    const quick = ["--prefer-offline", "--no-audit", "--no-fund"];
    await run("npm", ["install", ...quick, mcp, wire, cli, `zod@${packageJson.devDependencies.zod}`], { cwd: folder });
    command = join(folder, "node_modules/@parlance/cli/dist/parlance.js");

    const programs = [...readme.matchAll(/```ts\n\/\/ (?<name>[\w-]+)\.ts\n(?<code>.*?)```/gs)];
    expect(programs.map(({ groups }) => groups?.name)).toEqual(["server", "client", "greet-check", "calculator"]);
    for (const { groups: { name = "", code = "" } = {} } of programs) {
      await writeFile(join(folder, `${name}.ts`), code);
      await writeFile(join(folder, `${name}.js`), code.replaceAll("server.ts", "server.js"));
    }
    printed = readme.match(/\/\/ client\.ts\n.*?```\n\n```text\n(?<text>.*?)```/s)?.groups?.text ?? "";
  }, 240_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The paths of the packages as npm delivers them. */
  async function packed(names: readonly string[]): Promise<readonly string[]> {
    const to = join(folder, "packed");
    await mkdir(to);
    const folders = names.map((name) => join(root, "packages", name));
    const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", to, ...folders]);
    const files = JSON.parse(stdout) as readonly { readonly filename: string }[];
    return files.map(({ filename }) => join(to, filename));
  }

  describe.each(ways)("with $name", ({ command: node, args, ending }) => {
    test("its client calls its server, its check passes and its service answers", { timeout: 240_000 }, async () => {
      const outputOf = async (name: string): Promise<string> =>
        (await run(node, [...args, `${name}.${ending}`], { cwd: folder })).stdout;
      expect(await outputOf("client")).toBe(printed);
      expect(await outputOf("greet-check")).toBe("");
      expect(await outputOf("calculator")).toBe("19\n");
    });

    test("the command calls its server", { timeout: 240_000 }, async () => {
      const server = [node, ...args, `server.${ending}`].join(" ");
      const { stdout } = await run(process.execPath, [command, "call", server, "greet", "name=Ada"], { cwd: folder });
      expect(stdout).toContain("Hello, Ada.");
    });
  });

  test("the command finds no fault in its server", { timeout: 240_000 }, async () => {
    // Rejects if the command exits with another code than 0.
    await run(process.execPath, [command, "check", "--", "node", "server.js"], { cwd: folder });
  });
});
