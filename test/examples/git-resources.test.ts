import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { type CompletionReference, latest, latestHandshake, versions } from "@parlance/mcp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TextResourceContents } from "../../packages/mcp/src/protocol/types/content.js";
import { inForm } from "../testing/forms.js";
import { type GitClient, openServer } from "./git-client.js";
import { Folder, newRepository } from "./repository.js";

const eras = [latest.version, latestHandshake.version];
const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]);
const staged = "git:/diff/staged";

describe("in a repository with two branches and staged changes", () => {
  let repository: Folder;
  let hash: string;

  beforeAll(() => {
    repository = newRepository();
    repository.write("notes/a b#?%.md", "old\n");
    repository.write("notes/deep/c.ts", "let c;\n");
    repository.write("picture.png", picture);
    symlinkSync("/etc/passwd", join(repository.path, "link"));
    hash = repository.commit("Begin");
    repository.git("branch", "feature/old");
    repository.write("notes/a b#?%.md", "new\n");
    repository.commit("Go on");
    repository.git("tag", "v1.0");
    repository.write("notes/deep/c.ts", "let d;\n");
    repository.git("add", "--all");
  });
  afterAll(() => repository[Symbol.dispose]());

  describe.each(inForm({ long: versions, short: eras }))("a client of %s", (revision) => {
    let git: GitClient;
    beforeAll(async () => {
      git = await openServer(repository, { revision });
    });
    afterAll(() => git.client.close());

    test("finds two resources and a template", async () => {
      const { resources } = await git.client.call("resources/list");
      expect(resources).toMatchObject([
        { uri: staged, name: "staged", mimeType: "text/x-diff" },
        { uri: "git:/log", name: "log", mimeType: "text/plain" },
      ]);
      const { resourceTemplates } = await git.client.call("resources/templates/list");
      expect(resourceTemplates).toMatchObject([{ uriTemplate: "git:/files/{+path}{?ref}", name: "file" }]);
    });

    test("reads what is staged, as git itself prints it", async () => {
      expect(await read(git, staged)).toEqual([
        { uri: staged, mimeType: "text/x-diff", text: repository.git("diff", "--cached") },
      ]);
    });

    test("reads the last commits", async () => {
      expect(await read(git, "git:/log")).toMatchObject([
        { text: expect.stringMatching(/^[0-9a-f]{7} 2024-05-06 Ada Lovelace: Go on\n[0-9a-f]{7} .*: Begin\n$/) },
      ]);
    });

    test("reads files: of HEAD, of a branch, of a commit", async () => {
      const uri = "git:/files/notes/a%20b%23%3F%25.md";
      const text = async (ref: string): Promise<unknown> => (await read(git, `${uri}${ref}`))[0]?.text;
      expect(await read(git, uri)).toEqual([{ uri, mimeType: "text/markdown", text: "new\n" }]);
      expect(await text("?ref=v1.0")).toBe("new\n");
      expect(await text("?ref=feature/old")).toBe("old\n");
      expect(await text("?ref=feature%2Fold")).toBe("old\n");
      expect(await text(`?ref=${hash}`)).toBe("old\n");
      expect(await text("?ref=HEAD~1")).toBe("old\n");
    });

    test("gets bytes where there is no text, and names a source a text", async () => {
      expect(await read(git, "git:/files/picture.png")).toEqual([
        { uri: "git:/files/picture.png", mimeType: "image/png", blob: picture.toString("base64") },
      ]);
      expect(await read(git, "git:/files/notes/deep/c.ts")).toMatchObject([
        { mimeType: "text/plain", text: "let c;\n" },
      ]);
    });

    test("gets the text of a link, and not what it leads to", async () => {
      expect(await read(git, "git:/files/link")).toMatchObject([{ text: "/etc/passwd" }]);
    });

    test("finds three prompts, which bring along what they are about", async () => {
      const { prompts } = await git.client.call("prompts/list");
      expect((prompts as { name: string }[]).map(({ name }) => name)).toEqual([
        "review",
        "commit_message",
        "explain_commit",
      ]);
      const review = await git.client.call("prompts/get", { name: "review", arguments: { focus: "names" } });
      expect(review.messages).toMatchObject([
        { role: "user", content: { type: "text", text: expect.stringMatching(/^Review /) } },
        { role: "user", content: { type: "text", text: "What matters most: names" } },
        {
          role: "user",
          content: { type: "resource", resource: { uri: staged, text: expect.stringContaining("+let d;") } },
        },
      ]);
      const message = await git.client.call("prompts/get", { name: "commit_message" });
      expect(message.messages).toMatchObject([
        { content: { text: expect.stringContaining("Ada Lovelace: Go on\n") } },
        { content: { resource: { uri: staged, text: expect.stringContaining("+let d;") } } },
      ]);
      const explained = await git.client.call("prompts/get", { name: "explain_commit", arguments: { ref: hash } });
      expect(explained.messages).toMatchObject([
        { content: { text: expect.stringMatching(new RegExp(`commit ${hash}\\n[^]*Begin\\n[^]*\\+let c;`)) } },
      ]);
    });
  });

  describe.each(eras)("completion, for a client of %s", (revision) => {
    let git: GitClient;
    beforeAll(async () => {
      git = await openServer(repository, { revision });
    });
    afterAll(() => git.client.close());

    const file: CompletionReference = { type: "ref/resource", uri: "git:/files/{+path}{?ref}" };
    const complete = async (ref: CompletionReference, name: string, value: string, settled = {}): Promise<unknown> => {
      const params = { ref, argument: { name, value }, context: { arguments: settled } };
      return (await git.client.call("completion/complete", params)).completion.values;
    };

    test("goes from folder to folder, as a shell does", async () => {
      expect(await complete(file, "path", "")).toEqual(["link", "notes/", "picture.png"]);
      expect(await complete(file, "path", "no")).toEqual(["notes/"]);
      expect(await complete(file, "path", "notes/")).toEqual(["notes/a b#?%.md", "notes/deep/"]);
      expect(await complete(file, "path", "notes/d")).toEqual(["notes/deep/"]);
      expect(await complete(file, "path", "notes/d", { ref: "feature/old" })).toEqual(["notes/deep/"]);
      expect(await complete(file, "path", "notes/none/")).toEqual([]);
    });

    test("knows branches and tags, of the template and of the prompt", async () => {
      for (const ref of [file, { type: "ref/prompt", name: "explain_commit" } as const]) {
        expect(await complete(ref, "ref", "")).toEqual(["HEAD", "feature/old", "main", "v1.0"]);
        expect(await complete(ref, "ref", "fea")).toEqual(["feature/old"]);
        expect(await complete(ref, "ref", "*")).toEqual([]);
      }
    });

    test.each(["..", "../", "/", "/etc/", "notes/../", "no\0", "--output=stolen/"])(
      "of the path %j leads nowhere",
      async (path) => {
        expect(await complete(file, "path", path)).toEqual([]);
      },
    );

    test.each(["none", "--all", "-p", "^HEAD", "..", "HEAD..main", "\0", "HEAD --all"])(
      "of a path at %j finds nothing",
      async (ref) => {
        expect(await complete(file, "path", "", { ref })).toEqual([]);
      },
    );
  });
});

describe("what a caller may not do", () => {
  let around: Folder;
  let repository: Folder;
  let git: GitClient;
  beforeAll(async () => {
    around = new Folder();
    around.write("secret", "s3cret\n");
    repository = newRepository();
    repository.write("f", "1\n");
    repository.commit("Begin");
    repository.write("later", "1\n");
    git = await openServer(repository, { revision: latest.version });
  });
  afterAll(async () => {
    await git.client.close();
    around[Symbol.dispose]();
    repository[Symbol.dispose]();
  });

  const hostile = [
    "--output=stolen",
    "-p",
    "--",
    "^HEAD",
    "..",
    "HEAD..HEAD",
    "HEAD:f",
    "HEAD --all",
    "$(touch stolen)",
  ];

  test.each([...hostile, "none", "HEAD\0", "\n", "a\\..\\b", "%2e%2e"])("read a file at the ref %j", async (ref) => {
    await expect(read(git, `git:/files/f?ref=${encodeURIComponent(ref)}`)).rejects.toMatchObject({
      message: "Resource not found",
    });
    expect(execFileSync("ls", [repository.path], { encoding: "utf8" })).toBe("f\nlater\n");
  });

  test.each([...hostile, "none"])("explain the commit %j", async (ref) => {
    await expect(git.client.call("prompts/get", { name: "explain_commit", arguments: { ref } })).rejects.toMatchObject({
      code: -32602,
      data: { errors: [{ path: "/arguments/ref" }] },
    });
  });

  test.each(["../secret", "%2e%2e/secret", "..%2Fsecret", "/etc/passwd", "%2Fetc/passwd", "f/..", "f%00", "", "later"])(
    "read the file %j",
    async (path) => {
      await expect(read(git, `git:/files/${path}`)).rejects.toMatchObject({ message: "Resource not found" });
    },
  );

  test("read a folder, or more than a name", async () => {
    repository.write("folder/f", "1\n");
    repository.commit("A folder");
    for (const path of ["folder", "folder/", "*", ":(glob)f", "--output=stolen"]) {
      await expect(read(git, `git:/files/${path}`)).rejects.toMatchObject({ message: "Resource not found" });
    }
  });
});

describe("what is large", () => {
  test("a file beyond a megabyte is refused by its size, one of a megabyte is read", async () => {
    using repository = newRepository();
    const most = 1024 * 1024;
    repository.write("most", "x".repeat(most));
    repository.write("more", "x".repeat(most + 1));
    repository.commit("Begin");
    await using git = await openServer(repository);
    expect((await read(git, "git:/files/most"))[0]?.text).toHaveLength(most);
    await expect(read(git, "git:/files/more")).rejects.toMatchObject({
      code: 128,
      message: `more has ${most + 1} bytes: at most ${most} can be read, git_blame shows a part of it`,
    });
  });

  test("a patch is cut at a line, and says so", async () => {
    using repository = newRepository();
    repository.write("f", "0123456789\n".repeat(200_000));
    repository.git("add", "f");
    await using git = await openServer(repository);
    const [{ text } = {}] = await read(git, staged);
    expect((text as string).length).toBeLessThan(1024 * 1024 + 200);
    expect((text as string).split("\n").slice(-3)).toEqual([
      "+0123456789",
      "[The patch is cut here: git_diff with staged and a path shows the rest]",
      "",
    ]);
  });
});

describe("in a repository", () => {
  test("without commits: nothing is staged, there is no history and no file", async () => {
    using repository = newRepository();
    await using git = await openServer(repository);
    expect(await read(git, staged)).toMatchObject([{ text: "" }]);
    expect(await read(git, "git:/log")).toMatchObject([{ text: "" }]);
    await expect(read(git, "git:/files/f")).rejects.toMatchObject({ message: "Resource not found" });
    repository.write("f", "1\n");
    repository.git("add", "f");
    expect(await read(git, staged)).toMatchObject([{ text: repository.git("diff", "--cached") }]);
  });

  test("that is bare: what is staged is git's complaint, and names no folder of the machine", async () => {
    using origin = newRepository();
    origin.write("f", "1\n");
    origin.commit("Begin");
    using bare = new Folder();
    bare.git("clone", "--quiet", "--bare", origin.path, ".");
    await using git = await openServer(bare);
    expect(await git.refusal("git_diff", { staged: true })).toBe("fatal: this operation must be run in a work tree");
    expect(await read(git, "git:/files/f")).toMatchObject([{ text: "1\n" }]);
    await expect(read(git, staged)).rejects.toMatchObject({
      code: 128,
      message: "fatal: this operation must be run in a work tree",
    });
  });
});

async function read(git: GitClient, uri: string): Promise<readonly TextResourceContents[]> {
  const { contents } = await git.client.call("resources/read", { uri });
  return contents as readonly TextResourceContents[]; // Bytes would have no text, and the tests compare that.
}
