import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { main, parlance } from "../run.js";

const run = promisify(execFile);

/** The words that begin the rows of one part of a help page. */
function rows(page: string, title: string): readonly string[] {
  const [, part = ""] = page.split(`${title}\n`);
  return part.split("\n\n")[0]?.match(/^ {2}\S.*?(?= {2}|$)/gm) ?? [];
}

const pages = new Map<string, string>();

beforeAll(async () => {
  const { stdout: main } = await parlance(["--help"]);
  for (const name of commandNames(main)) pages.set(name, (await parlance([name, "--help"])).stdout);
});

function commandNames(page: string): readonly string[] {
  const parts = page.split("\n\n").filter((part) => !/^(?:Usage|Options):|^\S+ .*[.]$/.test(part));
  return parts.flatMap((part) => [...part.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name = ""]) => name));
}

test.each(["bash", "zsh", "fish"])(
  "the script for %s has every command and every option of the help pages",
  async (shell) => {
    const { code, stdout: script } = await parlance(["completion", shell]);
    expect(code).toBe(0);
    const names = [...pages.keys()];
    expect(names).toEqual(expect.arrayContaining(["talk", "call", "wrap", "serve", "completion", "help"]));
    for (const name of names) {
      const lines = script.split("\n").filter((line) => new RegExp(`(?:^ *|from )${name}[)']`).test(line));
      expect(lines, name).not.toEqual([]);
      if (name === "help") continue;
      for (const row of rows(pages.get(name) ?? "", "Options:")) {
        for (const [option] of row.matchAll(/(?<![\w-])--?[a-z][\w-]*/gi)) {
          const spelt = shell === "fish" ? option.replace(/^--/, "-l ").replace(/^-(\w)$/, "-s $1") : option;
          expect(lines.join("\n"), `${name} ${option}`).toContain(spelt);
        }
      }
    }
  },
);

/** The completions of bash for the last of some words. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { stdout: script } = await parlance(["completion", "bash"]);
  const folder = mkdtempSync(join(tmpdir(), "parlance-completion-"));
  writeFileSync(join(folder, "script"), script);
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parlance; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run("bash", ["-c", program, "bash", join(folder, "script"), "parlance", ...words]);
  return stdout.split("\n").filter((word) => word !== "");
}

test.each([
  [["wra"], ["wrap"]],
  [["ta"], expect.arrayContaining(["talk"])],
  [["--v"], ["--version"]],
  [
    ["wrap", ""],
    ["claude-desktop", "claude-code", "vscode", "cursor", "windsurf", "codex", "mcp.json"],
  ],
  [["unwrap", "--dry-run", "vs"], ["vscode"]],
  [["unwrap", "vscode", ""], []],
  [["wrap", "--config", ""], []],
  [["wrap", "--config", "some file.json", "--js"], ["--json"]],
  [["talk", "--re"], ["--revision"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish", "targets", "requests"],
  ],
  [["help", "wr"], ["wrap"]],
  [["talk", "--", "bas"], expect.arrayContaining(["bash"])],
  [["talk", "--", "bash", ""], []],
])("bash completes the last of %j", async (words, expected) => {
  expect(await offered(...words)).toEqual(expected);
});

test("bash completes the names of configured servers and of saved requests, which it takes apart", async () => {
  const { stdout: script } = await parlance(["completion", "bash"]);
  const home = mkdtempSync(join(tmpdir(), "parlance-completion-"));
  mkdirSync(join(home, ".cursor"));
  const server = { command: "node", args: ["server.js"] };
  writeFileSync(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { files: server, fetch: server } }));
  mkdirSync(join(home, ".parlance/requests"), { recursive: true });
  for (const name of ["sum", "suite", "two words"])
    writeFileSync(join(home, ".parlance/requests", `${name}.json`), '{"method":"ping"}');
  writeFileSync(join(home, "script"), script);
  const program = `parlance() { "$NODE" "$MAIN" "$@"; }; source "$HOME/script"
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parlance; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, HOME: home, NODE: process.execPath, MAIN: main };
  const completed = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await run("bash", ["-c", program, "bash", "parlance", ...words], { env, cwd: home });
    return stdout.split("\n").filter((word) => word !== "");
  };
  expect(await completed("call", "cur")).toEqual(["cursor:fetch", "cursor:files"]);
  expect(await completed("call", "cursor", ":", "fi")).toEqual(["files"]);
  expect(await completed("call", "cursor", ":")).toEqual(["fetch", "files"]);
  expect(await completed("call", "cursor", ":", "files", "cur")).toEqual([]);
  expect(await completed("wrap", "cur")).toEqual(["cursor"]);
  expect(await completed("call", "cursor", ":", "files", "@")).toEqual(["suite", "sum"]);
  expect(await completed("call", "server.js", "@", "sum")).toEqual(["sum"]);
  expect(await completed("list", "server.js", "@")).toEqual([]);
});

test("where bash has nothing to offer it completes the names of files", async () => {
  const { stdout: script } = await parlance(["completion", "bash"]);
  const { stdout } = await run("bash", ["-c", `${script}\ncomplete -p parlance`]);
  expect(stdout).toBe("complete -o default -F _parlance parlance\n");
});

/** Shells that are not on every machine, with the option that reads a script without running it. */
const checks = { zsh: "-n", fish: "--no-execute" } as const;

describe.each(["zsh", "fish"] as const)("the script for %s", (shell) => {
  const isInstalled = spawnSync(shell, ["--version"]).status === 0;

  test.skipIf(!isInstalled)(`is accepted by ${shell}, if it is installed`, async () => {
    const { stdout: script } = await parlance(["completion", shell]);
    const path = join(mkdtempSync(join(tmpdir(), "parlance-completion-")), "script");
    writeFileSync(path, script);
    await run(shell, [checks[shell], path]);
  });
});

test("the script for zsh has the syntax that zsh shares with bash", async () => {
  const { stdout: script } = await parlance(["completion", "zsh"]);
  const path = join(mkdtempSync(join(tmpdir(), "parlance-completion-")), "script");
  writeFileSync(path, script);
  await run("bash", ["-n", path]);
});

test("every line of the script for fish is a comment, or one command whose words are quoted", async () => {
  const { stdout: script } = await parlance(["completion", "fish"]);
  const word = /(?:-{1,2}[\w-]+|[\w-]+|'(?:[^'\\]|\\.)*')/.source;
  for (const line of script.trimEnd().split("\n"))
    expect(line).toMatch(new RegExp(`^(?:#.*|complete -c parlance -n (?:${word})(?: ${word})+)$`));
});

test("an unknown shell is refused, and those that are known are named", async () => {
  const { code, stderr } = await parlance(["completion", "tcsh"]);
  expect(stderr).toContain("Allowed choices are bash, zsh, fish, targets, requests.");
  expect(code).toBe(1);
});
