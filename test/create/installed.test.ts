import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runClientScenario, runServerSet } from "../../conformance/runner/scenarios.js";
import { install } from "../../conformance/runner/suite.js";
import { Scratch } from "../cli/scratch.js";
import { create, filesIn, run } from "./made-project.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packages = ["mcp", "wire", "cli"];
let packed: Scratch;

beforeAll(async () => {
  await install();
  packed = new Scratch();
  const workspaces = packages.flatMap((name) => ["-w", `@parlance/${name}`]);
  const ran = await run("npm", ["pack", ...workspaces, "--pack-destination", packed.path], root);
  expect(ran, ran.output).toMatchObject({ code: 0 });
});

afterAll(() => packed[Symbol.dispose]());

/** Installs a made project with our packages as they would be published. */
async function installIn(folder: string): Promise<void> {
  const path = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const { version } = JSON.parse(readFileSync(join(root, "packages/mcp/package.json"), "utf8"));
  const ours = Object.fromEntries(
    packages.map((name) => [`@parlance/${name}`, `file:${packed.at(`parlance-${name}-${version}.tgz`)}`]),
  );
  for (const list of [manifest.dependencies, manifest.devDependencies])
    for (const name of Object.keys(list)) list[name] = ours[name] ?? list[name];
  writeFileSync(path, JSON.stringify({ ...manifest, overrides: ours }));
  const ran = await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund"], folder);
  expect(ran, ran.output).toMatchObject({ code: 0 });
}

/** The scenarios of the official suite for servers that need no tool, resource or prompt of a certain name. */
const serverScenarios = {
  "2025-11-25": [
    "server-initialize",
    "logging-set-level",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-session-lifecycle",
  ],
  "2026-07-28": [
    "tools-list",
    "server-sse-multiple-streams",
    "resources-list",
    "sep-2164-resource-not-found",
    "prompts-list",
    "dns-rebinding-protection",
    "caching",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "http-header-validation",
  ],
};

/** The scenarios for clients that a command line can play: all but authorization, and calls that programs make on purpose. */
const clientScenarios = {
  "2025-11-25": ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
  ],
};

/** The arguments of `node` that serve a made server over HTTP: its own program, if it has one. */
function httpProgram(language: string, transport: string): readonly string[] {
  if (transport !== "stdio") return [language === "ts" ? "dist/http.js" : "src/http.js"];
  return ["node_modules/@parlance/cli/bin/parlance.js", "serve", `src/server.${language}`, "--http", "0", "--no-watch"];
}

/** Serves a made server over HTTP, and runs the scenarios. */
async function expectConformance(folder: string, language: string, transport: string): Promise<void> {
  const env = { ...process.env, PORT: "0" };
  const args = httpProgram(language, transport);
  const server = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(server, "exit");
  try {
    const [line] = await once(createInterface({ input: server.stdout }), "line");
    const [url = ""] = /http:\S+/.exec(line) ?? [];
    for (const [revision, names] of Object.entries(serverScenarios)) {
      using results = new Scratch();
      const scenarios = names.map((name) => ({ revision, role: "server" as const, name }));
      const outcomes = await runServerSet(scenarios, revision, url, results.path);
      expect(outcomes.filter(({ passed }) => !passed)).toEqual([]);
    }
  } finally {
    server.kill();
    await exited;
  }
}

/** Lets the suite call its servers with a made client, which a user starts for each call. */
async function expectClientConformance(folder: string, language: string): Promise<void> {
  const user = join(import.meta.dirname, "scenario-user.js");
  const main = language === "ts" ? "dist/main.js" : "src/main.js";
  for (const [revision, names] of Object.entries(clientScenarios))
    for (const name of names) {
      using results = new Scratch();
      const scenario = { revision, role: "client" as const, name };
      const outcome = await runClientScenario(scenario, results.path, `node ${user} ${join(folder, main)}`);
      expect(outcome, `${revision} ${name}`).toMatchObject({ passed: true });
    }
}

/** Types a message while `npm run dev` of a made service runs, and reads its response. */
async function expectResponseInDevelopment(folder: string): Promise<void> {
  // A group of its own, because npm and the watcher start processes.
  const dev = spawn("npm", ["run", "--silent", "dev"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const exited = once(dev, "exit");
  try {
    dev.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tasks.list"}\n');
    const [line] = await once(createInterface({ input: dev.stdout }), "line");
    expect(line).toBe('{"jsonrpc":"2.0","id":1,"result":[]}');
  } finally {
    if (dev.pid !== undefined) process.kill(-dev.pid);
    await exited;
  }
}

const kinds = ["ts", "js"].flatMap((language) => [
  ...["stdio", "http", "both"].map((transport) => ({ template: "server", language, transport })),
  { template: "service", language, transport: "both" },
  { template: "client", language, transport: "stdio" },
]);

test.each(kinds)("a $template in $language over $transport is installed, tested and checked", async (kind) => {
  const { template, language, transport } = kind;
  using scratch = new Scratch();
  const folder = scratch.path;
  await create(folder, "--template", template, "--language", language, "--transport", transport);
  await installIn(folder);
  for (const script of ["test", "check", ...(language === "ts" ? ["build"] : [])]) {
    const ran = await run("npm", ["run", script], folder);
    expect(ran, ran.output).toMatchObject({ code: 0 });
    if (script === "check" && template === "server") expect(ran.output).toMatch(/· 0 failed · 0 violations/);
  }
  if (language === "ts") {
    const stricter = ["--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
    const checked = await run("npx", ["tsc", "--noEmit", ...stricter], folder);
    expect(checked, checked.output).toMatchObject({ code: 0 });
  }
  if (template === "server") await expectConformance(folder, language, transport);
  if (template === "service") await expectResponseInDevelopment(folder);
  if (template === "client") await expectClientConformance(folder, language);
});

test("the packed command makes a project from the folder into which npm installs it", async () => {
  using scratch = new Scratch();
  await run("npm", ["pack", "-w", "create-parlance", "--pack-destination", scratch.path], root);
  const { version } = JSON.parse(readFileSync(join(root, "packages/create-parlance/package.json"), "utf8"));
  const archive = scratch.at(`create-parlance-${version}.tgz`);
  const installed = await run("npm", ["install", "--offline", "--no-audit", archive], scratch.path);
  expect(installed, installed.output).toMatchObject({ code: 0 });
  const made = await run(scratch.at("node_modules/.bin/create-parlance"), ["my-notes", "--yes"], scratch.path);
  expect(made, made.output).toMatchObject({ code: 0 });

  mkdirSync(scratch.at("from-source"));
  await create(scratch.at("from-source"), "--name", "my-notes");
  expect(filesIn(scratch.at("my-notes"))).toEqual(filesIn(scratch.at("from-source")));
});
