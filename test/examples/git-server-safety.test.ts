import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, constants, rmSync, symlinkSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { latest, latestHandshake } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { childChannel } from "@parlance/mcp/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandFor, GitClient, openServer, program } from "./git-client.js";
import { Folder, newRepository } from "./repository.js";

describe("what a caller may not do", () => {
  const tools = ["git_status", "git_log", "git_diff", "git_show", "git_blame"];
  let around: Folder;
  let repository: Folder;
  let git: GitClient;

  beforeAll(async () => {
    around = new Folder();
    around.write("secret", "s3cret\n");
    repository = newRepository();
    repository.write("f", "1\n");
    repository.write("inner/secret", "harmless\n");
    repository.commit("Begin");
    rmSync(join(repository.path, "inner"), { recursive: true });
    symlinkSync(around.path, join(repository.path, "inner"));
    git = await openServer(repository);
  });
  afterAll(async () => {
    await git.client.close();
    // Whatever was tried: there is no new file.
    expect((await readdir(repository.path)).toSorted()).toEqual([".git", "f", "inner"]);
    around[Symbol.dispose]();
    repository[Symbol.dispose]();
  });

  const outside = ["../x", "..", "a/../../x", "a/..", "..\\x", "/etc/passwd", "/", "f\0../x", "", "x".repeat(5_000)];

  test.each(outside)("leave the repository by the path %j", async (path) => {
    for (const tool of tools) {
      expect(await git.refusal(tool, { path })).toMatch(/^Invalid arguments for tool git_\w+:\n\/path: /);
    }
  });

  test("leave the repository through a link", async () => {
    for (const path of ["inner", "inner/secret"]) {
      for (const tool of tools) {
        const { content } = await git.client.tools.call(tool, { path });
        expect(JSON.stringify(content)).not.toContain("s3cret");
      }
    }
  });

  const options = [
    "--upload-pack=touch stolen",
    "-Ostolen",
    "--output=stolen",
    "-n",
    "--all",
    "--",
    "^HEAD",
    "HEAD\0",
    "",
  ];

  test.each(options)("give an option as the revision %j", async (revision) => {
    for (const [tool, args] of [
      ["git_log", { revision }],
      ["git_log", { exclude: revision }],
      ["git_diff", { from: revision }],
      ["git_diff", { from: "HEAD", to: revision }],
      ["git_show", { revision }],
      ["git_blame", { path: "f", revision }],
    ] as const) {
      expect(await git.refusal(tool, args)).toMatch(
        /^Invalid arguments for tool git_\w+:\n\/(revision|exclude|from|to): /,
      );
    }
  });

  test.each(["HEAD --output=stolen", "HEAD..HEAD", "HEAD:f", "$(touch stolen)", ":/[", "HEAD;touch stolen"])(
    "give something else as the revision %j",
    async (revision) => {
      expect(await git.refusal("git_show", { revision })).toContain(`revision ${JSON.stringify(revision)}: `);
    },
  );

  test.each(["--output=stolen", "-n", ":(exclude)f", ":/f", "*", "$(touch stolen)"])(
    "have more of the path %j than a name",
    async (path) => {
      expect(await git.ask("git_status", { path })).toMatchObject({ files: [] });
      expect(await git.ask("git_log", { path })).toEqual({ commits: [], more: false });
      expect(await git.ask("git_diff", { from: "HEAD", path })).toMatchObject({ files: [], patch: "" });
      expect(await git.ask("git_show", { path })).toMatchObject({ files: [], patch: "" });
      expect(await git.refusal("git_blame", { path })).toMatch(/^fatal: no such path /);
    },
  );

  test("give an argument that a tool does not have", async () => {
    for (const tool of tools) expect(await git.refusal(tool, { path: "f", output: "stolen" })).toContain('"output"');
  });
});

describe.skipIf(process.platform === "win32")("a call that hangs", () => {
  // A pipe in the place of a file: git reads until all who write to it have closed it.
  test.each([latest.version, latestHandshake.version])(
    "leaves no git behind when it is cancelled, in %s",
    async (revision) => {
      using repository = newRepository();
      repository.write("f", "1\n");
      repository.commit("Begin");
      repository.write("f", "2\n");
      const pipe = join(repository.path, ".gitattributes");
      execFileSync("mkfifo", [pipe]);
      const channel = childChannel(commandFor(repository));
      await using git = new GitClient(await connect(channel, { revision }));

      const controller = new AbortController();
      const diff = git.ask("git_diff", {}, { signal: controller.signal });
      const writer = await open(pipe, "w"); // Waits until somebody reads.
      expect(await hasReader(pipe)).toBe(true);
      controller.abort();
      await expect(diff).rejects.toMatchObject({ reason: "cancelled" });
      await expect.poll(() => hasReader(pipe), { timeout: 60_000, interval: 10 }).toBe(false);
      await writer.close();
      expect(channel.stderr).toBe("");
      expect(await git.ask("git_log")).toMatchObject({ commits: [{ subject: "Begin" }] });
    },
  );
});

/** A pipe without a reader cannot be opened for writing, unless one is ready to wait. */
async function hasReader(pipe: string): Promise<boolean> {
  try {
    await (await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK)).close();
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "ENXIO" });
    return false;
  }
}

describe("an answer that would be too long", () => {
  const megabyte = 1024 * 1024;
  const lines = Array.from({ length: 40_000 }, (_, index) => `line ${index + 1} is not very long, but there are many`);
  let repository: Folder;
  let git: GitClient;

  beforeAll(async () => {
    repository = newRepository();
    repository.write("long", lines.join("\n"));
    repository.commit("Begin");
    repository.write("long", lines.map((line) => `${line}!`).join("\n"));
    const blob = repository.gitWith("", "hash-object", "-w", "--stdin").trim();
    const staged = Array.from({ length: 15_000 }, (_, index) => `100644 ${blob} 0\tmany/file number ${index}\n`);
    repository.gitWith(staged.join(""), "update-index", "--index-info");
    git = await openServer(repository);
  });
  afterAll(async () => {
    await git.client.close();
    repository[Symbol.dispose]();
  });

  interface Answer {
    readonly patch: string;
    readonly note: string;
    readonly files: readonly unknown[];
    readonly lines: readonly { readonly line: number; readonly text: string }[];
  }

  async function ask(
    tool: string,
    args: Record<string, unknown>,
    onProgress?: (bytes: number) => void,
  ): Promise<Answer> {
    const listener = { onProgress: ({ progress }: { readonly progress: number }) => onProgress?.(progress) };
    return (await git.ask(tool, args, listener)) as Answer; // What the schemas say, but for who has which.
  }

  test("as a patch is cut after a line, with the counts of all of it", async () => {
    const told: number[] = [];
    const { patch, ...counts } = await ask("git_diff", { path: "long" }, (bytes) => void told.push(bytes));
    expect(counts).toMatchObject({
      insertions: 40_000,
      deletions: 40_000,
      note: "The patch is cut: ask again with a path",
    });
    expect(patch.length).toBeLessThanOrEqual(megabyte);
    expect(patch.length).toBeGreaterThan(megabyte / 2);
    expect(repository.git("diff", "long").startsWith(patch)).toBe(true);
    expect(patch.endsWith("\n")).toBe(true);
    expect(told.length).toBeGreaterThan(5);
    expect(told).toEqual([...new Set(told)].toSorted((a, b) => a - b));
  });

  test("as lines of a file can be had in parts", async () => {
    const seen: string[] = [];
    for (let next = 1; next <= lines.length; ) {
      const part = await ask("git_blame", { path: "long", firstLine: next });
      expect(part.lines[0]?.line).toBe(next);
      seen.push(...part.lines.map(({ text }) => text));
      next += part.lines.length;
      const note = next <= lines.length ? `Lines are missing: ask again with firstLine ${next}` : undefined;
      expect(part.note).toBe(note);
    }
    expect(seen).toEqual(lines);
  });

  test("as a list of files says that there are more", async () => {
    const { files, note } = await ask("git_status", {});
    expect(files.length).toBeGreaterThan(1_000);
    expect(files.length).toBeLessThanOrEqual(10_000);
    expect(note).toBe("Files are missing: ask again with a path");
    expect(await git.refusal("git_diff", { staged: true })).toBe(
      "More files have changed than can be listed: ask again with a path",
    );
    expect((await ask("git_status", { path: "many/file number 7" })).files).toHaveLength(1);
  });
});

describe("the configuration of git", () => {
  const hostile = (trap: string): string => `
[core]
	fsmonitor = ${trap}
	hooksPath = hooks
	pager = ${trap}
	quotePath = true
[color]
	ui = always
[diff]
	external = ${trap}
	noprefix = true
	mnemonicPrefix = true
	renames = false
	relative = true
	submodule = log
[diff "trap"]
	textconv = ${trap}
	command = ${trap}
[log]
	showSignature = true
	showRoot = false
	diffMerges = combined
[gpg]
	program = ${trap}
[status]
	short = true
	showUntrackedFiles = no
	renames = false
	aheadBehind = false
[i18n]
	logOutputEncoding = ISO-8859-1
`;

  test("starts no program and changes no answer, nor do its variables", async () => {
    using repository = newRepository();
    repository.write(".gitattributes", "* diff=trap\n");
    repository.write("käse", "1\n");
    repository.commit("Käse");
    repository.write("käse", "1\n2\n");
    repository.git("mv", "käse", "brot");
    repository.write("neu", "");
    using elsewhere = new Folder();
    const trap = join(elsewhere.path, "trap.sh");
    elsewhere.write("trap.sh", `#!/bin/sh\ntouch ${JSON.stringify(join(elsewhere.path, "sprung"))}\n`);
    chmodSync(trap, 0o755);
    elsewhere.write(".gitconfig", hostile(`'${trap}'`));
    const env = { HOME: elsewhere.path, GIT_DIR: elsewhere.path, GIT_EXTERNAL_DIFF: trap, GIT_CONFIG_COUNT: "x" };

    await using plain = await openServer(repository);
    await using configured = await openServer(repository, { env });
    for (const [tool, args] of [
      ["git_status", {}],
      ["git_log", {}],
      ["git_diff", {}],
      ["git_diff", { from: "HEAD" }],
      ["git_show", {}],
      ["git_blame", { path: "käse" }],
    ] as const) {
      expect(await configured.ask(tool, args)).toEqual(await plain.ask(tool, args));
    }
    expect(await configured.ask("git_show")).toMatchObject({ patch: expect.stringContaining("+++ b/käse") });
    expect((await readdir(elsewhere.path)).toSorted()).toEqual([".gitconfig", "trap.sh"]);
  });

  test("shows no folder of this machine when it is broken", async () => {
    using repository = newRepository();
    using elsewhere = new Folder();
    await using git = await openServer(repository, { env: { HOME: elsewhere.path } });
    elsewhere.write(".gitconfig", "[");
    expect(await git.refusal("git_status")).toMatch(/^fatal: bad config line \d in file ~\/.gitconfig$/);
    rmSync(join(elsewhere.path, ".gitconfig"));
    repository.write(".git/index", "no index");
    expect(await git.refusal("git_status")).not.toContain(repository.path);
  });
});

describe("without a repository", () => {
  test.each([
    ["a folder that is in none", "", /^git-server: fatal: not a git repository/],
    [
      "a folder that is not there",
      "nowhere",
      /^git-server: fatal: cannot change to '.*nowhere': No such file or directory\n$/,
    ],
  ])("%s: the server says so and exits", (_, name, words) => {
    using folder = new Folder();
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, join(folder.path, name)], {
      encoding: "utf8",
    });
    expect(stderr).toMatch(words);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  });

  test("and without git, the server says what to do", () => {
    using folder = new Folder();
    const { status, stderr } = spawnSync(process.execPath, [program], {
      cwd: folder.path,
      env: { PATH: folder.path },
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "git-server: There is no git command: install git, or add it to PATH\n",
    });
  });
});
