// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hosts write variables so in their configurations
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { inForm } from "../../testing/forms.js";
import { fixture, parlanceIn, type Ran } from "../run.js";

const node = process.execPath;
const server = fixture("environment-server.js");
const started = { command: node, args: [server, "one"], env: { GIVEN: "from the configuration" } };

/** A home and a project in it, with these files. */
function home(files: Readonly<Record<string, unknown>>): { readonly path: string; readonly project: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "parlance-targets-")));
  const project = join(path, "project");
  mkdirSync(project);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return { path, project };
}

/** Runs the command in the project of a home. */
function inProject(
  { path, project }: { readonly path: string; readonly project: string },
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const env = { PATH: process.env.PATH, HOME: path, USERPROFILE: path, APPDATA: join(path, ".config"), ...variables };
  return parlanceIn(project, args, env);
}

const settings = process.platform === "darwin" ? "Library/Application Support" : ".config";

/** The start of the server, as it reports it. */
function report(overrides: object = {}): object {
  return { args: ["one"], given: "from the configuration", secret: null, cwd: expect.any(String), ...overrides };
}

const toml = `
[mcp_servers.fs] # the files
command = ${JSON.stringify(node)}
args = [${JSON.stringify(server)}, "one"]
env_vars = ["SECRET"]

[mcp_servers.fs.env]
GIVEN = "from the configuration"
`;

test.concurrent.each([
  ["claude-desktop:fs", `${settings}/Claude/claude_desktop_config.json`, { mcpServers: { fs: started } }],
  ["claude-code:fs", ".claude.json", { mcpServers: { fs: started } }],
  ["vscode:fs", `${settings}/Code/User/mcp.json`, { servers: { fs: started } }],
  ["vscode:fs", "project/.vscode/mcp.json", `{ "servers": { "fs": ${JSON.stringify(started)}, /* last */ }, }`],
  ["cursor:fs", ".cursor/mcp.json", { mcpServers: { fs: started } }],
  ["windsurf:fs", ".codeium/windsurf/mcp_config.json", { mcpServers: { fs: started } }],
  ["codex:fs", ".codex/config.toml", toml],
  ["codex:fs", "project/.codex/config.toml", toml],
  ["claude-code:fs", "project/.mcp.json", { mcpServers: { fs: started } }],
  [".mcp.json:fs", "project/.mcp.json", { mcpServers: { fs: started } }],
  ["mcp.json:fs", "project/.mcp.json", { mcpServers: { fs: started } }],
  ["mcp.json:fs", "project/mcp.json", { mcpServers: { fs: started } }],
  ["../other.toml:fs", "other.toml", toml],
  ["cursor:two words", ".cursor/mcp.json", { mcpServers: { "two words": started } }],
])("%s is started as %s says", async (target, file, content) => {
  const { code, stdout, stderr } = await inProject(home({ [file]: content }), ["call", target, "report"]);
  expect(stderr).toMatch(/ · ok\n$/);
  expect(JSON.parse(stdout)).toEqual(report());
  expect(code).toBe(0);
});

/** Configurations by host. The short form wraps one of each format: JSON, JSON with comments, TOML, and the file of a project. */
const wrapped: readonly (readonly [host: string, file: string, content: unknown])[] = [
  ["claude-code", ".claude.json", { numStartups: 7, mcpServers: { fs: started } }],
  ["vscode", "project/.vscode/mcp.json", `{ "servers": { "fs": ${JSON.stringify(started)}, /* last */ }, }`],
  ["codex", ".codex/config.toml", toml],
  ["mcp.json", "project/.mcp.json", { mcpServers: { fs: started } }],
  ["claude-desktop", `${settings}/Claude/claude_desktop_config.json`, { mcpServers: { fs: started } }],
  ["cursor", ".cursor/mcp.json", { mcpServers: { fs: started } }],
  ["windsurf", ".codeium/windsurf/mcp_config.json", { mcpServers: { fs: started } }],
];

test.concurrent.each(inForm({ long: wrapped, short: wrapped.slice(0, 4) }))(
  "a server of %s is wrapped, records when it is started as configured, and is unwrapped",
  async (host, file, content) => {
    const at = home({ [file]: content });
    const before = readFileSync(join(at.path, file), "utf8");
    expect(await inProject(at, ["wrap", host, "fs"])).toMatchObject({ code: 0 });
    const recordings = join(at.path, "recordings");
    const call = ["call", "--env", `PARLANCE_RECORDINGS=${recordings}`, `${host}:fs`, "report"];
    expect(JSON.parse((await inProject(at, call)).stdout)).toEqual(report());
    expect(readdirSync(recordings)).toHaveLength(1);
    expect(await inProject(at, ["unwrap", host, "fs"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(at.path, file), "utf8")).toBe(before);
  },
);

test.concurrent("a server of a project is started in the folder of the project, or in its cwd", async () => {
  const at = home({
    "project/.vscode/mcp.json": { servers: { fs: started, sub: { ...started, cwd: "${workspaceFolder}/deeper" } } },
    "project/deeper/x": "",
  });
  const deeper = { ...at, project: join(at.project, "deeper") };
  const cwdOf = async (target: string): Promise<unknown> =>
    JSON.parse((await inProject(deeper, ["call", target, "report"])).stdout).cwd;
  expect(await cwdOf("vscode:fs")).toBe(at.project);
  expect(await cwdOf("vscode:sub")).toBe(deeper.project);
});

test.concurrent("the server of this project counts for Claude Code, before that of everywhere", async () => {
  const at = home({});
  const local = { [at.project]: { mcpServers: { fs: { ...started, env: { GIVEN: "local" } } } } };
  writeFileSync(join(at.path, ".claude.json"), JSON.stringify({ mcpServers: { fs: started }, projects: local }));
  const { stdout } = await inProject(at, ["call", "claude-code:fs", "report"]);
  expect(JSON.parse(stdout)).toEqual(report({ given: "local" }));
});

test.concurrent.each([
  ["mcp.json:fs", "project/.mcp.json", "${X}-${X:-no}-${NONE:-default}", "x-x-default"],
  ["cursor:fs", ".cursor/mcp.json", "${env:X}${/}${userHome}", "x/HOME"],
  ["vscode:fs", "project/.vscode/mcp.json", "${workspaceFolderBasename} ${env:X} ${input:key}", "project x typed"],
  ["windsurf:fs", ".codeium/windsurf/mcp_config.json", "${env:X} ${file:HOME/secret}", "x from a file"],
  ["claude-desktop:fs", `${settings}/Claude/claude_desktop_config.json`, "${X}", "${X}"],
])("variables of %s are replaced as the host does", async (target, file, written, expected) => {
  const at = home({ secret: "from a file\n" });
  const fs = { ...started, env: { GIVEN: written.replace("HOME", at.path) } };
  mkdirSync(dirname(join(at.path, file)), { recursive: true });
  writeFileSync(join(at.path, file), JSON.stringify({ mcpServers: { fs }, servers: { fs } }));
  const { stdout } = await inProject(at, ["call", "--input", "key=typed", target, "report"], { X: "x" });
  expect(JSON.parse(stdout)).toEqual(report({ given: expected.replace("HOME", at.path) }));
});

test.concurrent("an env file is read, and --env counts for more than both", async () => {
  const fs = { ...started, envFile: "${workspaceFolder}/.env" };
  const at = home({ "project/.vscode/mcp.json": { servers: { fs } }, "project/.env": 'SECRET="s3"\nGIVEN=file\n' });
  expect(JSON.parse((await inProject(at, ["call", "vscode:fs", "report"])).stdout)).toEqual(report({ secret: "s3" }));
  const { stdout } = await inProject(at, ["call", "--env", "GIVEN=option", "vscode:fs", "report"]);
  expect(JSON.parse(stdout)).toEqual(report({ given: "option", secret: "s3" }));
});

test.concurrent("Codex passes on the variables that env_vars lists", async () => {
  const { stdout } = await inProject(home({ ".codex/config.toml": toml }), ["call", "codex:fs", "report"], {
    SECRET: "passed",
  });
  expect(JSON.parse(stdout)).toEqual(report({ secret: "passed" }));
});

test.concurrent("a server at a URL is asked there, with its headers", async () => {
  const echo = createServer({ name: "echo", version: "1.0.0" });
  const sent = new AsyncLocalStorage<string>();
  echo.tool("headers", {}, () => sent.getStore() ?? "none");
  await using http = await serveHttp(echo, {
    auth(request) {
      sent.enterWith([request.header("authorization"), request.header("x-key")].join(" "));
      return { principal: "somebody" };
    },
  });
  const json = { url: http.url, headers: { Authorization: "Bearer ${env:T}", "X-Key": "k" } };
  const at = home({
    ".cursor/mcp.json": { mcpServers: { remote: json } },
    ".codeium/windsurf/mcp_config.json": { mcpServers: { remote: { ...json, url: undefined, serverUrl: http.url } } },
    ".codex/config.toml": `[mcp_servers]
remote = { url = "${http.url}", bearer_token_env_var = "T", http_headers = { X-Key = "k" } }
other.url = "${http.url}"
other.env_http_headers = { Authorization = "B" }
`,
  });
  const asked = async (...args: readonly string[]): Promise<string> =>
    (await inProject(at, ["call", ...args, "headers"], { T: "t0ken", B: "Basic b" })).stdout;
  expect(await asked("cursor:remote")).toBe("Bearer t0ken k\n");
  expect(await asked("windsurf:remote")).toBe("Bearer t0ken k\n");
  expect(await asked("codex:remote")).toBe("Bearer t0ken k\n");
  expect(await asked("codex:other")).toBe("Basic b \n");
  expect(await asked("--header", "authorization: mine", "cursor:remote")).toBe("mine k\n");
  expect(await asked("--header-env", "Authorization=B", "cursor:remote")).toBe("Basic b k\n");
});

test.concurrent("every command that takes a target takes a configured one", async () => {
  const at = home({ ".cursor/mcp.json": { mcpServers: { fs: started } } });
  const recordings = { PARLANCE_RECORDINGS: join(at.path, "recordings") };
  const [list, talk, run, doctor, check, send] = await Promise.all([
    inProject(at, ["list", "cursor:fs", "tools"]),
    inProject(at, ["talk", "--once", "cursor:fs"]),
    inProject(at, ["run", "--once", "--call", "report", "--json", "cursor:fs"], recordings),
    inProject(at, ["doctor", "cursor:fs"]),
    inProject(at, ["check", "--revision", "2026-07-28", "cursor:fs"]),
    inProject(at, [
      "send",
      "--line",
      "--revision",
      "2025-11-25",
      "--open",
      "cursor:fs",
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    ]),
  ]);
  expect([list, talk, run, doctor, check, send].map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(run.stdout).toContain("from the configuration");
});

const cursor = {
  ".cursor/mcp.json": { mcpServers: { fs: started, files: started, bad: {}, odd: { url: "ftp://x" } } },
};

test.concurrent.each([
  ["cursor:fss", "there is no server fss: there are fs, files, bad, odd in\n", "→ did you mean fs?"],
  ["cursr:fs", "there is no host cursr: parlance knows claude-desktop, claude-code,", "→ did you mean cursor?"],
  ["windsurf:fs", "there is no file ", "mcp_config.json"],
  ["vscode:fs", "none of these files exists:", "Code/User/mcp.json"],
  ["cursor:bad", "bad in ", "cannot be used: it has neither command nor url"],
  ["cursor:odd", "odd in ", "has no URL of HTTP or WebSocket: ftp://x"],
])("%s is refused: %s %s", async (target, ...words) => {
  const { code, stderr } = await inProject(home(cursor), ["call", target, "report"]);
  for (const each of words) expect(stderr).toContain(each);
  expect(code).toBe(1);
});

test.concurrent.each([
  ["mcp.json:fs", "project/.mcp.json", "${NONE}", "uses the variable NONE, which is not set here"],
  ["cursor:fs", ".cursor/mcp.json", "${env:NONE}", "uses the variable NONE, which is not set here"],
  [
    "vscode:fs",
    "project/.vscode/mcp.json",
    "${input:key}",
    "uses the input key, which its host asks for\n  → --input key=…",
  ],
  [
    "vscode:fs",
    "project/.vscode/mcp.json",
    "${command:x}",
    "${command:x} in the configuration has no value outside its host",
  ],
  ["windsurf:fs", ".codeium/windsurf/mcp_config.json", "${file:/no/such}", "uses the file /no/such: ENOENT"],
])("in %s (%s), %s is refused", async (target, file, written, words) => {
  const fs = { ...started, env: { GIVEN: written } };
  const { code, stderr } = await inProject(home({ [file]: { mcpServers: { fs }, servers: { fs } } }), [
    "call",
    target,
    "x",
  ]);
  expect(stderr).toContain(words);
  expect(code).toBe(1);
});

test.concurrent("an invalid TOML file is refused with the place of the fault", async () => {
  const { code, stderr } = await inProject(home({ ".codex/config.toml": "a = [\n b" }), ["call", "codex:fs", "x"]);
  expect(stderr).toContain("config.toml is not valid TOML of servers: line 2, column 2: ");
  expect(code).toBe(1);
});

test.concurrent("the names of configured servers are there for shells", async () => {
  const at = home({ ...cursor, ".codex/config.toml": toml, "project/.mcp.json": "{" });
  const { code, stdout } = await inProject(at, ["completion", "targets"]);
  expect(stdout).toBe("codex:fs\ncursor:bad\ncursor:files\ncursor:fs\ncursor:odd\n");
  expect(code).toBe(0);
});
