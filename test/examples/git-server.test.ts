import { chmodSync, renameSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { latest, latestHandshake, versions } from "@parlance/mcp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inForm } from "../testing/forms.js";
import { type GitClient, openServer } from "./git-client.js";
import { Folder, newRepository } from "./repository.js";

const eras = [latest.version, latestHandshake.version];
const ada = { author: "Ada Lovelace", email: "ada@example.com", date: "2024-05-06T05:08:09.000Z" };

describe("in a repository with some history and changes", () => {
  let repository: Folder;
  let first: string;
  let second: string;

  beforeAll(() => {
    repository = newRepository();
    repository.write("poem.txt", "one\ntwo\nthree\n");
    repository.write("notes/old.txt", "a\nb\nc\nd\n");
    repository.write("picture", "\0\u0001");
    first = repository.commit("Begin");
    repository.write("poem.txt", "one\n2\nthree\nfour\n");
    renameSync(join(repository.path, "notes/old.txt"), join(repository.path, "notes/new.txt"));
    second = repository.commit("Count\nfurther\n\nThe body.");
    repository.write("poem.txt", "one\n2\nthree\nfour\nfive\n");
    repository.write("picture", "\0\u0002");
    repository.git("add", "picture");
    repository.git("mv", "notes/new.txt", "notes/newer.txt");
    repository.write("draft", "");
  });
  afterAll(() => repository[Symbol.dispose]());

  describe.each(inForm({ long: versions, short: eras }))("a client of %s", (revision) => {
    let git: GitClient;
    beforeAll(async () => {
      git = await openServer(repository, { revision });
    });
    afterAll(() => git.client.close());

    test("sees five tools", async () => {
      const tools = await git.client.tools.list().all();
      expect(tools.map(({ name }) => name)).toEqual(["git_status", "git_log", "git_diff", "git_show", "git_blame"]);
      expect(tools.filter(({ description = "" }) => description.length < 50)).toEqual([]);
      const required = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema.required]));
      expect(required).toEqual({ git_blame: ["path"] });
    });

    test("gets the status", async () => {
      expect(await git.ask("git_status")).toEqual({
        branch: "main",
        commit: second,
        files: [
          { path: "notes/newer.txt", from: "notes/new.txt", staged: "renamed" },
          { path: "picture", staged: "modified" },
          { path: "poem.txt", unstaged: "modified" },
          { path: "draft", unstaged: "untracked" },
        ],
      });
    });

    test("gets the log", async () => {
      expect(await git.ask("git_log")).toEqual({
        commits: [
          { hash: second, ...ada, subject: "Count further" },
          { hash: first, ...ada, subject: "Begin" },
        ],
        more: false,
      });
    });

    test("gets the changes that are not staged", async () => {
      expect(await git.ask("git_diff")).toEqual({
        filesChanged: 1,
        insertions: 1,
        deletions: 0,
        files: [{ path: "poem.txt", change: "modified", insertions: 1, deletions: 0 }],
        patch: repository.git("diff"),
      });
    });

    test("gets a commit", async () => {
      expect(await git.ask("git_show")).toEqual({
        commit: {
          hash: second,
          ...ada,
          subject: "Count further",
          parents: [first],
          message: "Count\nfurther\n\nThe body.",
        },
        filesChanged: 2,
        insertions: 2,
        deletions: 1,
        files: [
          { path: "notes/new.txt", from: "notes/old.txt", change: "renamed", insertions: 0, deletions: 0 },
          { path: "poem.txt", change: "modified", insertions: 2, deletions: 1 },
        ],
        patch: repository.git("show", "--format=", second),
      });
    });

    test("gets who wrote the lines of a file", async () => {
      expect(await git.ask("git_blame", { path: "poem.txt" })).toEqual({
        lines: [
          { line: 1, commit: first, text: "one" },
          { line: 2, commit: second, text: "2" },
          { line: 3, commit: first, text: "three" },
          { line: 4, commit: second, text: "four" },
        ],
        commits: [
          { hash: first, ...ada, subject: "Begin" },
          { hash: second, ...ada, subject: "Count" },
        ],
      });
    });
  });
});

test.each(eras)("every tool says in %s that it only reads, and what it gives", async (revision) => {
  using repository = newRepository();
  await using git = await openServer(repository, { revision });
  for (const tool of await git.client.tools.list().all()) {
    expect(tool).toMatchObject({
      annotations: { readOnlyHint: true, openWorldHint: false },
      inputSchema: { type: "object", additionalProperties: false },
      outputSchema: { type: "object" },
    });
  }
});

describe("what is compared", () => {
  let repository: Folder;
  let git: GitClient;

  beforeAll(async () => {
    repository = newRepository();
    repository.write("f", "1\n");
    repository.commit("One");
    repository.write("f", "1\n2\n");
    repository.write("g", "1\n");
    repository.commit("Two");
    repository.write("f", "1\n2\n3\n");
    repository.git("add", "f");
    repository.write("f", "1\n2\n3\n4\n");
    git = await openServer(repository);
  });
  afterAll(async () => {
    await git.client.close();
    repository[Symbol.dispose]();
  });

  test.each([
    [{}, []],
    [{ staged: true }, ["--cached"]],
    [{ staged: true, from: "HEAD~1" }, ["--cached", "HEAD~1"]],
    [{ from: "HEAD" }, ["HEAD"]],
    [{ from: "HEAD~1" }, ["HEAD~1"]],
    [{ from: "HEAD~1", to: "main" }, ["HEAD~1", "main"]],
    [{ from: "HEAD~1", path: "g" }, ["HEAD~1", "--", "g"]],
    [{ from: "HEAD", to: "HEAD" }, ["HEAD", "HEAD"]],
  ])("git_diff %j is git diff %j", async (args, words) => {
    const counts = repository
      .git("diff", "--numstat", ...words)
      .split("\n")
      .slice(0, -1);
    expect(await git.ask("git_diff", args)).toMatchObject({
      patch: repository.git("diff", ...words),
      filesChanged: counts.length,
      insertions: counts.reduce((sum, line) => sum + Number(line.split("\t")[0]), 0),
      deletions: 0,
    });
  });

  test("a comparison with two ends needs both of them", async () => {
    expect(await git.refusal("git_diff", { to: "HEAD" })).toContain("/to: goes with from, and without staged");
    expect(await git.refusal("git_diff", { from: "HEAD~1", to: "HEAD", staged: true })).toContain("/to: goes with");
  });

  test("a log goes page by page", async () => {
    expect(await git.ask("git_log", { limit: 1 })).toMatchObject({ commits: [{ subject: "Two" }], more: true });
    expect(await git.ask("git_log", { limit: 1, skip: 1 })).toMatchObject({
      commits: [{ subject: "One" }],
      more: false,
    });
    expect(await git.refusal("git_log", { limit: 501 })).toContain("/limit");
  });

  test("a log has bounds: a revision, another one, a path", async () => {
    expect(await git.ask("git_log", { revision: "main~1" })).toMatchObject({ commits: [{ subject: "One" }] });
    expect(await git.ask("git_log", { exclude: "HEAD~1" })).toMatchObject({ commits: [{ subject: "Two" }] });
    expect(await git.ask("git_log", { path: "g" })).toMatchObject({ commits: [{ subject: "Two" }] });
  });

  test("a blame can be of some lines, and of another revision", async () => {
    const lines = async (args: object): Promise<unknown> => git.ask("git_blame", { path: "f", ...args });
    expect(await lines({ firstLine: 2 })).toMatchObject({ lines: [{ line: 2, text: "2" }] });
    expect(await lines({ lastLine: 1 })).toMatchObject({ lines: [{ line: 1, text: "1" }] });
    expect(await lines({ revision: "HEAD~1" })).toMatchObject({ lines: [{ line: 1, text: "1" }] });
    expect(await git.refusal("git_blame", { path: "f", firstLine: 9 })).toBe("fatal: file f has only 2 lines");
  });

  test("what git refuses, it refuses in its own words", async () => {
    expect(await git.refusal("git_show", { revision: "nowhere" })).toBe(
      'revision "nowhere": fatal: Needed a single revision',
    );
    expect(await git.refusal("git_blame", { path: "h" })).toMatch(/^fatal: no such path h in [0-9a-f]{40}$/);
  });

  test("the client can read along which commands are run, and how much they print", async () => {
    const messages: unknown[] = [];
    const progress: number[] = [];
    await using git = await openServer(repository, {
      revision: latestHandshake.version,
      onNotification: (method, params) => void messages.push({ method, ...params }),
    });
    await git.client.call("logging/setLevel", { level: "debug" });
    await git.ask("git_blame", { path: "f" }, { onProgress: (told) => void progress.push(told.progress) });
    expect(messages).toMatchObject([
      { method: "notifications/message", data: "git rev-parse --verify --end-of-options HEAD^{commit}" },
      { method: "notifications/message", data: expect.stringMatching(/^git blame .+ -- f$/) },
    ]);
    expect(progress.length).toBeGreaterThan(0);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });
});

describe("names that are not plain", () => {
  const names = [
    "two words",
    " around ",
    "tab\there",
    "line\nbreak",
    'a "quote"',
    "back\\slash",
    "ünïcode 日本語 🎼",
    "-n",
    "--output=stolen",
    ":(exclude)two words",
    ":",
    "*",
    "[a-z]",
    "HEAD",
    "main..main",
    "R100",
  ];
  let repository: Folder;
  let git: GitClient;

  beforeAll(async () => {
    repository = newRepository();
    for (const name of names) repository.write(name, `this is ${name}\n`);
    git = await openServer(repository);
  });
  afterAll(async () => {
    await git.client.close();
    repository[Symbol.dispose]();
  });

  test("are given as they are, and taken as they are", async () => {
    const untracked = names.toSorted().map((path) => ({ path, unstaged: "untracked" }));
    const status = await git.ask("git_status");
    expect(sortedFiles(status)).toEqual(untracked);

    repository.commit("Add");
    for (const path of names) {
      repository.write(path, `this is ${path}\nand more\n`);
      repository.git("--literal-pathspecs", "commit", "--quiet", "-m", `Change ${path.trim()}`, "--", path);
    }
    for (const path of names) {
      const asked = await git.ask("git_log", { path });
      expect(asked).toMatchObject({
        commits: [{ subject: `Change ${path.trim().replace("\n", " ")}` }, { subject: "Add" }],
        more: false,
      });
      const change = { path, change: "modified", insertions: 1, deletions: 0 };
      expect(await git.ask("git_diff", { from: `HEAD~${names.length}`, path })).toMatchObject({ files: [change] });
      expect(await blamed(git, path)).toBe(`this is ${path}\nand more`);
    }
    expect(sortedFiles(await git.ask("git_diff", { from: `HEAD~${names.length}` })).map(({ path }) => path)).toEqual(
      names.toSorted(),
    );
  });

  test("survive that a file gets another one of them", async () => {
    repository.git("mv", "two words", 'now\n"three" words');
    expect(await git.ask("git_status")).toMatchObject({
      files: [{ path: 'now\n"three" words', from: "two words", staged: "renamed" }],
    });
    expect(await git.ask("git_diff", { staged: true })).toMatchObject({
      files: [{ path: 'now\n"three" words', from: "two words", change: "renamed" }],
    });
  });
});

describe("a repository in an unusual state", () => {
  test("without a commit: it has a status and an empty history", async () => {
    using repository = newRepository();
    repository.write("f", "1\n");
    repository.git("add", "f");
    await using git = await openServer(repository);
    expect(await git.ask("git_status")).toEqual({
      branch: "main",
      commit: null,
      files: [{ path: "f", staged: "added" }],
    });
    expect(await git.ask("git_log")).toEqual({ commits: [], more: false });
    expect(await git.ask("git_diff")).toMatchObject({ filesChanged: 0, files: [], patch: "" });
    expect(await git.ask("git_diff", { staged: true })).toMatchObject({ files: [{ path: "f", change: "added" }] });
    expect(await git.refusal("git_show")).toBe('revision "HEAD": fatal: Needed a single revision');
  });

  test("with one commit: all of it is added", async () => {
    using repository = newRepository();
    repository.write("f", "1\n");
    const only = repository.commit("Begin");
    await using git = await openServer(repository);
    expect(await git.ask("git_show")).toEqual({
      commit: { hash: only, ...ada, subject: "Begin", parents: [], message: "Begin" },
      filesChanged: 1,
      insertions: 1,
      deletions: 0,
      files: [{ path: "f", change: "added", insertions: 1, deletions: 0 }],
      patch: repository.git("show", "--format="),
    });
  });

  test("with a detached HEAD: there is no branch", async () => {
    using repository = newRepository();
    repository.write("f", "1\n");
    const commit = repository.commit("Begin");
    repository.git("checkout", "--quiet", "--detach");
    await using git = await openServer(repository);
    expect(await git.ask("git_status")).toEqual({ branch: null, commit, files: [] });
  });

  test("a shallow clone: its first commit says that it is not the first", async () => {
    using origin = newRepository();
    for (const text of ["1", "2"]) {
      origin.write("f", text);
      origin.commit(text);
    }
    using clone = new Folder();
    clone.git("clone", "--quiet", "--depth=1", `file://${origin.path}`, ".");
    await using git = await openServer(clone);
    expect(await git.ask("git_log")).toMatchObject({ commits: [{ subject: "2" }], more: false });
    expect(await git.ask("git_show")).toMatchObject({
      files: [{ path: "f", change: "added" }],
      note: "This clone is shallow and its history ends here, so that every file counts as added",
    });
    expect(await git.ask("git_blame", { path: "f" })).toMatchObject({ lines: [{ line: 1, text: "2" }] });
  });

  test("a partial clone: nothing is fetched", async () => {
    using origin = newRepository();
    origin.git("config", "uploadpack.allowFilter", "true");
    origin.write("f", "1");
    origin.commit("Begin");
    using clone = new Folder();
    clone.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", `file://${origin.path}`, ".");
    await using git = await openServer(clone);
    expect(await git.ask("git_log")).toMatchObject({ commits: [{ subject: "Begin" }] });
    expect(await git.refusal("git_show")).toContain("transport 'file' not allowed");
  });

  test("with an upstream: the commits on either side are counted", async () => {
    using origin = newRepository();
    origin.git("commit", "--quiet", "--allow-empty", "--message=Begin");
    using clone = new Folder();
    clone.git("clone", "--quiet", origin.path, ".");
    for (const message of ["a", "b"]) clone.git("commit", "--quiet", "--allow-empty", `--message=${message}`);
    origin.git("commit", "--quiet", "--allow-empty", "--message=c");
    clone.git("fetch", "--quiet");
    await using git = await openServer(clone);
    expect(await git.ask("git_status")).toMatchObject({ upstream: "origin/main", ahead: 2, behind: 1 });
    expect(await git.ask("git_log", { exclude: "@{upstream}" })).toMatchObject({
      commits: [{ subject: "b" }, { subject: "a" }],
    });
  });

  test("bare: it has a history, and what needs a working tree says so", async () => {
    using origin = newRepository();
    origin.write("f", "1\n");
    origin.commit("Begin");
    using bare = new Folder();
    bare.git("clone", "--quiet", "--bare", origin.path, ".");
    await using git = await openServer(bare);
    expect(await git.ask("git_log")).toMatchObject({ commits: [{ subject: "Begin" }] });
    expect(await git.ask("git_blame", { path: "f" })).toMatchObject({ lines: [{ text: "1" }] });
    expect(await git.refusal("git_status")).toBe("fatal: this operation must be run in a work tree");
  });

  test("in a merge: conflicts are named, and a merge is shown against its first parent", async () => {
    using repository = newRepository();
    repository.write("f", "base\n");
    repository.write("g", "base\n");
    repository.commit("Begin");
    repository.git("checkout", "--quiet", "-b", "topic");
    repository.write("f", "theirs\n");
    repository.write("g", "theirs\n");
    const theirs = repository.commit("Theirs");
    repository.git("checkout", "--quiet", "main");
    repository.write("f", "ours\n");
    repository.git("rm", "--quiet", "g");
    const ours = repository.commit("Ours");
    expect(() => repository.git("merge", "--quiet", "topic")).toThrow();
    await using git = await openServer(repository);
    expect(await git.ask("git_status")).toMatchObject({
      files: [
        { path: "f", conflict: "both modified" },
        { path: "g", conflict: "deleted by us" },
      ],
    });
    expect(await git.ask("git_diff")).toMatchObject({
      insertions: 4,
      files: [
        { path: "f", change: "unmerged", insertions: 4, deletions: 0 },
        { path: "g", change: "unmerged", insertions: 0, deletions: 0 },
      ],
      patch: expect.stringContaining("+<<<<<<< HEAD"),
    });

    repository.write("f", "both\n");
    repository.commit("Merge");
    expect(await git.ask("git_show")).toMatchObject({
      commit: { parents: [ours, theirs] },
      patch: repository.git("diff", ours, "HEAD"),
    });
  });

  test("with many kinds of change: each has its name, a new time stamp is none, and the index stays as it is", async () => {
    using repository = newRepository();
    const touched = ["touched", "touched binary", 'touched "binary"'];
    for (const name of ["binary", 'binary\t"2"', ...touched.slice(1)]) repository.write(name, `${name}\0`);
    for (const name of ["deleted", "link", "mode", "touched"]) repository.write(name, `${name}\n`);
    repository.commit("Begin");
    const index = (): object => {
      const { ino, mtimeMs } = statSync(join(repository.path, ".git/index"));
      return { ino, mtimeMs };
    };
    const before = index();
    repository.write("binary", "\0");
    repository.write('binary\t"2"', "\0");
    rmSync(join(repository.path, "deleted"));
    rmSync(join(repository.path, "link"));
    symlinkSync("binary", join(repository.path, "link"));
    chmodSync(join(repository.path, "mode"), 0o755);
    for (const name of touched) utimesSync(join(repository.path, name), 0, 0);
    await using git = await openServer(repository);
    expect(await git.ask("git_diff")).toMatchObject({
      files: [
        { path: "binary", change: "modified", binary: true },
        { path: 'binary\t"2"', change: "modified", binary: true },
        { path: "deleted", change: "deleted" },
        { path: "link", change: "type changed" },
        { path: "mode", change: "modified", insertions: 0, deletions: 0 },
      ],
    });
    expect(await git.ask("git_status")).toMatchObject({
      files: [
        { path: "binary", unstaged: "modified" },
        { path: 'binary\t"2"', unstaged: "modified" },
        { path: "deleted", unstaged: "deleted" },
        { path: "link", unstaged: "type changed" },
        { path: "mode", unstaged: "modified" },
      ],
    });
    expect(index()).toEqual(before);
  });
});

function sortedFiles(answer: unknown): readonly { readonly path: string }[] {
  const { files } = answer as { readonly files: readonly { readonly path: string }[] }; // What both schemas say.
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

interface Blamed {
  readonly lines: readonly { readonly text: string }[];
}

async function blamed(git: GitClient, path: string): Promise<string> {
  const { lines } = (await git.ask("git_blame", { path })) as Blamed; // What the schema says.
  return lines.map(({ text }) => text).join("\n");
}
