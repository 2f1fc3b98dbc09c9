// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hosts write variables so in their configurations
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connectStdio, serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import fc from "fast-check";
import { expect, test } from "vitest";
import { launcherFor } from "../../../packages/cli/src/commands/wrap/command.js";
import { edited } from "../../../packages/cli/src/commands/wrap/edit-file.js";
import { unwrapEdits, wordsOf, wrapEdits, wrappedWords } from "../../../packages/cli/src/commands/wrap/wrapping.js";
import {
  type Configuration,
  parseConfiguration,
  placeOf,
} from "../../../packages/cli/src/shared/target/configuration.js";
import { hosts } from "../../../packages/cli/src/shared/target/host-table.js";
import { main, parlance, type Ran, toolsServer } from "../run.js";

const ownWords = [process.execPath, main, "tap", "--"];

const plain = `{
  "theme": "dark",
  "mcpServers": {
    "git": { "command": "npx", "args": ["-y", "git-server", "."], "env": { "TOKEN": "s3cret" } },
    "remote": { "type": "http", "url": "https://example.com/mcp" }
  }
}
`;

const odd = `\ufeff{
\t// The servers of this folder.\r
\t"servers" : {
\t\t"contacts":{"type":"stdio",/* why node? */"command" : "n\\u006fde", // the node
\t\t\t\t"args": [ // first the file
\t\t  "build/index.js",
\t\t  "--twice",   // two of them
\t\t],
\t\t},
\t\t"bare": {
\t\t\t"command": "C:\\\\tools\\\\server.cmd"  // as it is
\t\t}, "empty": { "args": [ ], "command": "uvx" },
\t},
}`;

/** A folder with one configuration. */
function configured(text: string): { readonly folder: string; readonly file: string; readonly read: () => string } {
  const folder = mkdtempSync(join(tmpdir(), "parlance-wrap-"));
  const file = join(folder, "mcp.json");
  writeFileSync(file, text);
  return { folder, file, read: () => readFileSync(file, "utf8") };
}

function run(verb: "wrap" | "unwrap", file: string, ...words: readonly string[]): Promise<Ran> {
  return parlance([verb, "--config", file, ...words], { PATH: "/nowhere" });
}

test("a wrapped server is started under parlance tap, and everything else stays", async () => {
  const { file, read } = configured(plain);
  const { code, stdout, stderr } = await run("wrap", file, "git");
  const before = JSON.parse(plain) as { mcpServers: { git: object } };
  const [command, ...args] = [...ownWords, "npx", "-y", "git-server", "."];
  const git = { ...before.mcpServers.git, command, args };
  expect(JSON.parse(read())).toEqual({ ...before, mcpServers: { ...before.mcpServers, git } });
  expect(stdout).toContain(`--- ${file}\n+++ ${file}\n@@ -2,5 +2,5 @@\n   "theme": "dark",\n`);
  expect(stdout).toContain('-    "git": { "command": "npx"');
  expect(stderr).toContain(`started as ${process.execPath} ${main}: parlance is not on the PATH`);
  expect(stderr).toContain(`the previous file is ${file}.parlance-backup\n`);
  expect(readFileSync(`${file}.parlance-backup`, "utf8")).toBe(plain);
  expect(code).toBe(0);
});

test("what is configured then starts the server, and records it", async () => {
  const [, command, ...args] = toolsServer;
  const { file, read, folder } = configured(JSON.stringify({ servers: { tools: { command, args } } }));
  await run("wrap", file, "tools");
  const { servers } = JSON.parse(read()) as { servers: { tools: { command: string; args: readonly string[] } } };
  const env = { PARLANCE_RECORDINGS: join(folder, "recordings") };
  const client = await connectStdio({ ...servers.tools, env });
  expect(await client.tools.call("add", { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } });
  // The recording is written beside the conversation, and is whole once the tap has ended.
  await client.close();
  expect(readdirSync(join(folder, "recordings"))).toHaveLength(1);
});

test("what is printed holds no keys", async () => {
  const { file, read } = configured(plain);
  expect((await run("wrap", file, "git")).stdout).toContain('"TOKEN": "…"');
  expect((await run("unwrap", file, "git", "--json")).stdout).not.toContain("s3cret");
  expect(read()).toContain("s3cret");
});

test("every byte is back after wrap and unwrap, comments and odd layout too", async () => {
  const { file, read, folder } = configured(odd);
  for (const name of ["bare", "contacts", "empty"]) expect((await run("wrap", file, name)).code).toBe(0);
  expect(read().match(/"tap"/g)).toHaveLength(3);
  for (const name of ["contacts", "empty", "bare"]) expect((await run("unwrap", file, name)).code).toBe(0);
  expect(read()).toBe(odd);
  expect(readdirSync(folder)).toEqual(["mcp.json", "mcp.json.parlance-backup"]);
});

const space = fc.constantFrom("", " ", "\n\t", "\r\n    ", "/* c */", " // c\n  ");
const literal = fc.constantFrom('"node"', '"n\\u006fde"', '"a b"', '"--"', '"tap"', '"C:\\\\x.cmd"', '""');

const layouts = fc.record({
  command: literal,
  args: fc.option(fc.array(literal, { maxLength: 3 })),
  argsFirst: fc.boolean(),
  spaces: fc.array(space, { minLength: 12, maxLength: 12 }),
  trailing: fc.boolean(),
});

test("no layout is too odd to give back every byte", () => {
  fc.assert(
    fc.property(layouts, ({ command, args, argsFirst, spaces, trailing }) => {
      const [a, b, c, d, e, f, g, h] = spaces;
      const items = (args ?? []).map((each, index) => `${spaces[8 + index]}${each}`).join(`${a},`);
      const list = args === null ? [] : [`"args"${b}:${c}[${items}${trailing && items !== "" ? "," : ""}${d}]`];
      const members = argsFirst ? [...list, `"command":${e}${command}`] : [`"command":${e}${command}`, ...list];
      const text = `{"servers":{"x":${f}{${g}${members.join(`${h},${a}`)}${trailing ? "," : ""}${b}}}}`;
      const wrapped = change(text, "wrap");
      expect(serverIn(wrapped)).toSatisfy((server: ReturnType<typeof serverIn>) => wrappedWords(server) !== undefined);
      expect(change(wrapped, "unwrap")).toBe(text);
    }),
    { numRuns: 500 },
  );
});

function serverIn(text: string): Extract<Configuration["servers"][number], { kind: "command" }> {
  const parsed = parseConfiguration(text, [["servers"]]);
  const [server] = "problem" in parsed ? [] : parsed.servers;
  if (server?.kind !== "command") throw new Error(`no server in ${text}: ${JSON.stringify(parsed)}`);
  return server;
}

function change(text: string, verb: "wrap" | "unwrap"): string {
  const server = serverIn(text);
  const edits = verb === "wrap" ? wrapEdits(text, server, ["parlance", "tap", "--"]) : unwrapEdits(text, server);
  return edited({ configuration: { text, format: "json", servers: [server] } }, "x", edits);
}

test("a trailing comma after the last argument is removed with it", () => {
  const text = '{"servers":{"x":{"command":"parlance","args":["tap","--","node" ,]}}}';
  expect(change(text, "unwrap")).toBe('{"servers":{"x":{"command":"node","args":[]}}}');
});

const codex = `model = "o5" # a comment
[mcp_servers.git]
command = 'npx' # no escapes
args = [
  "-y", # yes
  "git-server",
]
enabled = true

[mcp_servers.git.env]
TOKEN = "s3cret"

[mcp_servers.bare]
command = "uvx"
[mcp_servers.remote]
url = "https://example.com/mcp"
startup_timeout_sec = 20
[mcp_servers.remote.http_headers]
X-Key = "s3cret"

[mcp_servers]
inline = { command = "node", args = [] }
short.command = "deno"
dotted.url = "https://example.com/dotted"
here = { url = 'https://example.com/here', http_headers = { "X-Key" = "s3cret" } }
`;

test("every byte of a TOML file is back after wrap and unwrap", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parlance-wrap-"));
  const file = join(folder, "config.toml");
  writeFileSync(file, codex);
  const names = ["git", "bare", "remote", "inline", "short", "dotted", "here"];
  for (const name of names) {
    const { code, stdout, stderr } = await run("wrap", file, name);
    expect(stderr).toContain("the previous file is");
    expect(stdout).not.toContain("s3cret");
    expect(code).toBe(0);
  }
  const wrapped = readFileSync(file, "utf8");
  expect(wrapped.match(/"tap"/g)).toHaveLength(names.length);
  expect(wrapped).toContain(`command = ${JSON.stringify(process.execPath)} # no escapes\n`);
  const { stdout: listed } = await run("wrap", file, "--json");
  const { servers } = JSON.parse(listed) as { servers: readonly { name: string; wrapped: boolean }[] };
  expect(servers.map(({ name, wrapped: is }) => `${name} ${is}`).sort()).toEqual(names.map((n) => `${n} true`).sort());
  for (const name of names.toReversed()) await run("unwrap", file, name);
  expect(readFileSync(file, "utf8")).toBe(codex);
  expect(readdirSync(folder)).toEqual(["config.toml", "config.toml.parlance-backup"]);
});

const remotes = `{
  // VS Code
  "servers": {
    "typed": {
      "type" : "http", "headers": { "Authorization": "Bearer \${input:key}", "X-Key": "k" },
      "url" : "https:\\/\\/example.com/mcp" /* escaped */
    },
    "plain": { "url": "https://example.com/plain" }, "wind": { "serverUrl":"https://example.com/wind" }
  }
}`;

test("a server at a URL becomes a bridge under the tap, and every byte is back after unwrap", async () => {
  const { file, read } = configured(remotes);
  const { stderr } = await run("wrap", file, "typed");
  expect(stderr).toContain("it cannot sign in (OAuth)");
  expect(stderr).toContain("parlance proxy --target https://example.com/mcp");
  await run("wrap", file, "plain");
  await run("wrap", file, "wind");
  const launcher = [process.execPath, main];
  const { servers } = JSON.parse(read().replaceAll(/\/\/ VS Code|\/\*.*\*\//g, "")) as {
    servers: Record<string, object>;
  };
  const bridge = [main, "tap", "--wrapped-url", "url", "--wrapped-type", "http", "--", ...launcher, "bridge"];
  expect(servers.typed).toEqual({
    type: "stdio",
    env: { Authorization: "Bearer ${input:key}", "X-Key": "k" },
    command: process.execPath,
    args: [...bridge, "--header-env", "Authorization", "--header-env", "X-Key", "https://example.com/mcp"],
  });
  expect(servers.wind).toMatchObject({ args: expect.arrayContaining(["--wrapped-url", "serverUrl"]) });
  for (const name of ["plain", "typed", "wind"]) await run("unwrap", file, name);
  expect(read()).toBe(remotes);
});

test("what is configured then bridges to the URL with its headers, and records it", async () => {
  const server = createServer({ name: "remote", version: "1.0.0" });
  server.tool("hello", {}, () => "hello");
  await using http = await serveHttp(server, {
    auth: (request) => (request.header("x-key") === "s3cret" ? { principal: "somebody" } : undefined),
  });
  const { file, read, folder } = configured(
    JSON.stringify({ mcpServers: { remote: { type: "http", url: http.url, headers: { "X-Key": "s3cret" } } } }),
  );
  await run("wrap", file, "remote");
  const { mcpServers } = JSON.parse(read()) as {
    mcpServers: { remote: { command: string; args: readonly string[]; env: object } };
  };
  const { command, args, env } = mcpServers.remote;
  const recordings = { PARLANCE_RECORDINGS: join(folder, "recordings") };
  const client = await connectStdio({ command, args, env: { ...env, ...recordings } });
  expect(await client.tools.call("hello")).toMatchObject({ content: [{ text: "hello" }] });
  await client.close();
  const [recording = ""] = readdirSync(join(folder, "recordings"));
  const recorded = readFileSync(join(folder, "recordings", recording), "utf8");
  expect(recorded).toContain("tools/call");
  // Headers stand in variables, of which a recording holds the names alone.
  expect(recorded).not.toContain("s3cret");
});

test.each([
  [{ url: "https://x.example", oauth: {} }, "its oauth has no equivalent for a command"],
  [{ url: "https://x.example", headersHelper: "/bin/x" }, "its headersHelper has no equivalent for a command"],
])("%j is left as it is", async (server, words) => {
  const text = JSON.stringify({ mcpServers: { x: server } });
  const { file, read } = configured(text);
  const { code, stderr } = await run("wrap", file, "x");
  expect(stderr).toContain(words);
  expect(stderr).toContain("→ parlance proxy --target https://x.example");
  expect(code).toBe(1);
  expect(read()).toBe(text);
});

test("wrapping twice and unwrapping twice do nothing, and say so", async () => {
  const { file, read } = configured(plain);
  const nothing = await run("unwrap", file, "git");
  expect(nothing).toEqual({ code: 0, stdout: `git is not wrapped in ${file}\n`, stderr: "" });
  await run("wrap", file, "git");
  const wrapped = read();
  expect(await run("wrap", file, "git")).toEqual({
    code: 0,
    stdout: `git is wrapped already in ${file}\n`,
    stderr: "",
  });
  expect(read()).toBe(wrapped);
});

test("a dry run prints the change and makes none", async () => {
  const { file, read, folder } = configured(plain);
  const { stdout, stderr } = await run("wrap", file, "git", "--dry-run");
  expect(stdout).toContain('+    "git": ');
  expect(stderr).toContain("nothing is changed: --dry-run");
  expect(read()).toBe(plain);
  expect(readdirSync(folder)).toEqual(["mcp.json"]);
});

test("an older backup of something else is kept", async () => {
  const { file } = configured(plain);
  writeFileSync(`${file}.parlance-backup`, "older");
  const { stdout } = await run("wrap", file, "git", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    action: "wrap",
    file,
    server: "git",
    changed: true,
    command: [...ownWords, "npx", "-y", "git-server", "."],
    backup: `${file}.parlance-backup-2`,
  });
  expect(readFileSync(`${file}.parlance-backup`, "utf8")).toBe("older");
  expect(readFileSync(`${file}.parlance-backup-2`, "utf8")).toBe(plain);
});

test("a link stays a link, and its target keeps its mode", async () => {
  const { file, folder } = configured(plain);
  chmodSync(file, 0o640);
  const link = join(folder, "link.json");
  symlinkSync("mcp.json", link);
  await run("wrap", link, "git");
  expect(readFileSync(file, "utf8")).toContain('"tap"');
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(statSync(`${file}.parlance-backup`).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder)).toEqual(["link.json", "mcp.json", "mcp.json.parlance-backup"]);
});

test.each([
  [plain, "gti", "there is no server gti: there are git, remote in"],
  [plain, "gti", "did you mean git?"],
  ['{"servers": {"x": {"command": "a", "command": "b"}}}', "x", "its command is defined twice"],
  ['{"servers": {"x": {"command": "a"}, "x": {}}}', "x", "its name is defined twice"],
  ['{"servers": {"x": {"command": "a", "args": "b"}}}', "x", "its args must be an array of strings"],
  ['{"servers": {"x": {}}}', "x", "it has neither command nor url"],
  ['{\n  "servers": {\n    "x" {} } }', "x", 'line 3, column 9: colon expected, got "{}"'],
  ['{"servers": []}', "x", "line 1, column 13: expected an object of servers, got array"],
  ["[]", "x", "line 1, column 1: expected an object, got array"],
  ["", "x", "line 1, column 1: value expected, got the end"],
])("%j is left as it is when %s is to be wrapped", async (text, name, words) => {
  const { file, read, folder } = configured(text);
  const { code, stdout, stderr } = await run("wrap", file, name);
  expect(stderr).toMatch(/^✖ /);
  expect(stderr).toContain(words);
  expect(stdout).toBe("");
  expect(code).toBe(1);
  expect(read()).toBe(text);
  expect(readdirSync(folder)).toEqual(["mcp.json"]);
});

test.each([
  [["wrap", "vscod", "git"], "did you mean vscode?"],
  [["wrap", "emacs", "git"], "--config file"],
  [["wrap", "cursor", "git", "more"], "unexpected argument: more"],
  [["wrap", "--config", "no/such.json", "git"], "there is no file no/such.json\n  → --config names any other file\n"],
  [["wrap", "--config", "no/such.json"], "there is no file no/such.json"],
  [["wrap", "cursor", "git", "--", "node"], "this command takes no command after --"],
])("the wrong command line %j is refused", async (args, words) => {
  const { code, stdout, stderr } = await parlance(args);
  expect(stderr).toContain(words);
  expect(stdout).toBe("");
  expect(code).toBe(1);
});

test("without words, hosts are listed with their files, servers, and which are wrapped", async () => {
  const home = mkdtempSync(join(tmpdir(), "parlance-home-"));
  const env = { HOME: home, XDG_CONFIG_HOME: "", APPDATA: "", USERPROFILE: home, PATH: "/nowhere" };
  const at = { platform: process.platform, home, folder: home, env: {}, exists: () => false };
  const [{ path: desktop } = { path: "" }] = hosts.find(({ name }) => name === "claude-desktop")?.files(at) ?? [];
  mkdirSync(dirname(desktop), { recursive: true });
  writeFileSync(desktop, plain);
  mkdirSync(join(home, ".cursor"));
  writeFileSync(join(home, ".cursor", "mcp.json"), "{");
  await parlance(["wrap", "claude-desktop", "git"], env);
  const { code, stdout } = await parlance(["wrap"], env);
  expect(stdout).toContain(
    `Claude Desktop (claude-desktop)\n  ${desktop}\n    git     wrapped      npx -y git-server .\n`,
  );
  expect(stdout).toContain("    remote  URL          https://example.com/mcp\n");
  expect(stdout).toMatch(/VS Code \(vscode\)\n.*mcp\.json: not there\n/);
  expect(stdout).toContain("line 1, column 2: close brace expected, got the end");
  expect(code).toBe(1);
  const json = (await parlance(["wrap", "--json"], env)).stdout.split("\n");
  expect(JSON.parse(json[0] ?? "")).toEqual({
    host: "claude-desktop",
    file: desktop,
    found: true,
    servers: [
      { name: "git", kind: "command", wrapped: true, command: ["npx", "-y", "git-server", "."] },
      { name: "remote", kind: "url", url: "https://example.com/mcp" },
    ],
  });
});

test.each([
  ["darwin", "claude-desktop", ["/h/Library/Application Support/Claude/claude_desktop_config.json"]],
  ["linux", "claude-desktop", ["/h/.config/Claude/claude_desktop_config.json"]],
  ["darwin", "vscode", ["/w/.vscode/mcp.json", "/h/Library/Application Support/Code/User/mcp.json"]],
  ["linux", "vscode", ["/w/.vscode/mcp.json", "/h/.config/Code/User/mcp.json"]],
  ["linux", "cursor", ["/w/a/.cursor/mcp.json", "/h/.cursor/mcp.json"]],
  ["linux", "claude-code", ["/h/.claude.json", "/w/a/.mcp.json", "/h/.claude.json"]],
  ["linux", "windsurf", ["/h/.codeium/windsurf/mcp_config.json"]],
  ["linux", "codex", ["/w/a/.codex/config.toml", "/h/.codex/config.toml"]],
  ["linux", "mcp.json", ["/w/a/.mcp.json"]],
] as const)("on %s, the files of %s are known", (platform, name, paths) => {
  const exists = (path: string): boolean => path === "/w/.vscode/mcp.json";
  const at = { platform, home: "/h", folder: "/w/a", env: {}, exists };
  expect(
    hosts
      .find((host) => host.name === name)
      ?.files(at)
      .map(({ path }) => path),
  ).toEqual(paths);
});

test("on Windows, the files are where its programs keep their settings", () => {
  const env = { APPDATA: "C:\\Users\\x\\AppData\\Roaming" };
  const at = { platform: "win32", home: "C:\\Users\\x", folder: "D:\\w", env, exists: () => false } as const;
  expect(hosts.flatMap((host) => host.files(at).map(({ path }) => path))).toEqual([
    "C:\\Users\\x\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
    "C:\\Users\\x\\.claude.json",
    "D:\\w\\.mcp.json",
    "C:\\Users\\x\\.claude.json",
    "D:\\w\\.vscode\\mcp.json",
    "C:\\Users\\x\\AppData\\Roaming\\Code\\User\\mcp.json",
    "D:\\w\\.cursor\\mcp.json",
    "C:\\Users\\x\\.cursor\\mcp.json",
    "C:\\Users\\x\\.codeium\\windsurf\\mcp_config.json",
    "D:\\w\\.codex\\config.toml",
    "C:\\Users\\x\\.codex\\config.toml",
    "D:\\w\\.mcp.json",
  ]);
});

test("a host starts parlance by its name only where it finds it", () => {
  const folder = mkdtempSync(join(tmpdir(), "parlance-path-"));
  const bin = join(folder, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  for (const each of [folder, bin]) writeFileSync(join(each, "parlance"), "", { mode: 0o755 });
  const options = { commands: "shell", platform: "linux", path: folder, node: "/n/node", main: "/m/main.js" } as const;
  const byPath = ["/n/node", "/m/main.js"];
  expect(launcherFor(options).words).toEqual(["parlance"]);
  expect(launcherFor({ ...options, path: bin }).words).toEqual(byPath);
  expect(launcherFor({ ...options, commands: "system" }).words).toEqual(byPath);
  expect(launcherFor({ ...options, platform: "win32" }).words).toEqual(byPath);
  expect(launcherFor({ ...options, path: "", main: "/c/_npx/1/main.js" }).why).toContain("npm install -g");
});

test.each([
  [
    ["parlance", "tap", "--", "node", "x"],
    ["node", "x"],
  ],
  [["/usr/local/bin/parlance", "tap", "--record", "a", "--", "node"], ["node"]],
  [
    ["node", "/x/@parlance/cli/dist/parlance.js", "tap", "--", "npx", "-y", "s"],
    ["npx", "-y", "s"],
  ],
  [["npx", "-y", "@parlance/cli@0.1.0", "tap", "--", "s"], ["s"]],
  [["parlance", "serve", "x.js"], undefined],
  [["beer", "tap", "--", "x"], undefined],
  [["parlance", "tap", "--"], undefined],
])("%j is known for what it is", (words, wrapped) => {
  const [command, ...args] = words;
  const server = serverIn(JSON.stringify({ servers: { x: { command, args } } }));
  expect(wrappedWords(server)).toEqual(wrapped);
  expect(wordsOf(server)).toEqual(words);
});

test("places are counted as editors count them", () => {
  expect(placeOf("a\r\nb\rc\nde", 8)).toBe("line 4, column 2");
});
