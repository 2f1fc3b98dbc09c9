import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixture, jsonLines, parlanceIn, type Ran, toolsServer } from "../../run.js";
import { Scratch } from "../../scratch.js";

const actingServer = ["--", process.execPath, fixture("acting-server.js")];

/** A working directory with saved requests. */
class Requests extends Scratch {
  constructor(files: Readonly<Record<string, string>> = {}) {
    super();
    mkdirSync(this.folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text);
  }

  get folder(): string {
    return this.at(".parlance/requests");
  }

  call(...words: readonly string[]): Promise<Ran> {
    return parlanceIn(this.path, ["call", ...words], process.env);
  }
}

function request(method: string, params: object, more: object = {}): string {
  return JSON.stringify({ ...more, method, params });
}

describe("a saved request", () => {
  test("is a JSON file that --save writes, and that @name makes again, with other arguments too", async () => {
    using folder = new Requests();
    const first = await folder.call("--save", "sum", "add", "a=2", "b=3", ...toolsServer);
    expect(first).toMatchObject({ code: 0, stdout: '{\n  "sum": 5\n}\n' });
    expect(first.stderr).toContain("saved to .parlance/requests/sum.json\n");
    const path = join(folder.folder, "sum.json");
    expect(readFileSync(path, "utf8")).toBe(`{
  "method": "tools/call",
  "params": {
    "name": "add",
    "arguments": {
      "a": 2,
      "b": 3
    }
  }
}
`);
    expect(readdirSync(folder.folder)).toEqual(["sum.json"]);
    expect((await folder.call("@sum", ...toolsServer)).stdout).toBe('{\n  "sum": 5\n}\n');
    expect((await folder.call("@sum", "b=40", ...toolsServer)).stdout).toBe('{\n  "sum": 42\n}\n');
    const server = `"${process.execPath}" '${fixture("tools-server.js")}'`;
    expect((await folder.call(server, "@sum", "a=1")).stdout).toBe('{\n  "sum": 4\n}\n');
    expect((await folder.call("@sum", "node server.js")).stderr).toContain("the target comes before @sum");
  });

  test("keeps its numbers as they were written", async () => {
    using folder = new Requests();
    await folder.call("--save", "exact", "echo", "integer=9007199254740993", "number=1.0", ...toolsServer);
    expect(readFileSync(join(folder.folder, "exact.json"), "utf8")).toContain('"integer": 9007199254740993');
    await folder.call("--save", "again", "@exact", ...toolsServer);
    expect(readFileSync(join(folder.folder, "again.json"), "utf8")).toContain('"number": 1.0');
    expect((await folder.call("@", "--json")).stdout).toContain('"integer":9007199254740993');
  });

  test("may be any request", async () => {
    using folder = new Requests({
      "review.json": request("prompts/get", { name: "review", arguments: { book: "Emma" } }),
      "rules.json": request("resources/read", { uri: "library:rules" }),
    });
    expect((await folder.call("@review", "book=Moby-Dick", ...actingServer)).stdout).toContain("Review Moby-Dick.");
    const read = await folder.call("--save", "shelves", "@rules", "uri=library:shelves", ...actingServer);
    expect(JSON.parse(read.stdout)).toMatchObject({ contents: [{ uri: "library:shelves", text: "0" }] });
    expect(readFileSync(join(folder.folder, "shelves.json"), "utf8")).toContain('"uri": "library:shelves"');
  });

  test("is written without _meta, which may hold tokens", async () => {
    using folder = new Requests({
      "traced.json": request("tools/call", { name: "hello", arguments: {}, _meta: { "example.com/token": "secret" } }),
    });
    expect(await folder.call("--save", "plain", "@traced", ...toolsServer)).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(folder.folder, "plain.json"), "utf8"))).toEqual({
      method: "tools/call",
      params: { name: "hello", arguments: {} },
    });
  });

  test("is not replaced by --save, nor by a call that is saved under a name that no file may have", async () => {
    using folder = new Requests({ "sum.json": "{}" });
    const second = await folder.call("--save", "sum", "add", "a=2", "b=3", ...toolsServer);
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toContain("there is a request sum in .parlance/requests");
    expect(readFileSync(join(folder.folder, "sum.json"), "utf8")).toBe("{}");
    for (const [name, why] of [
      ["../sum", "has a path separator"],
      ["a\\b", "has a path separator"],
      [".hidden", "begins with ."],
      ["@sum", "begins with @"],
      ["a\u0007", "has a hidden character"],
      ["a\u202eb", "has a hidden character"],
      ["NUL", "is a device on Windows"],
      ["com1.old", "is a device on Windows"],
      ["what?", "which Windows forbids"],
      ["sum.", "ends with a dot"],
      ["é".repeat(101), "has more than 200 bytes"],
    ] as const) {
      const refused = await folder.call("--save", name, "add", "a=2", "b=3", ...toolsServer);
      expect(refused, name).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain(why);
    }
    expect(readdirSync(folder.folder)).toEqual(["sum.json"]);
    expect(readdirSync(folder.path)).toEqual([".parlance"]);
  });
});

describe("the folder of saved requests", () => {
  test("is listed by @, without a server", async () => {
    using folder = new Requests({
      "sum.json": request("tools/call", { name: "add" }, { description: "two and three" }),
      "rules.json": request("resources/read", { uri: "library:rules" }),
      "notes.txt": "no request",
    });
    expect(await folder.call("node server.js", "@")).toEqual(await folder.call("@"));
    expect(await folder.call("@")).toMatchObject({
      code: 0,
      stdout: "@rules  resources/read  library:rules\n@sum    tools/call  two and three\n",
      stderr: "",
    });
    const other = folder.at("other");
    expect((await folder.call("@", "--requests", other)).stderr).toContain(`there is no request in ${other}`);
    await folder.call("--requests", "other", "--save", "sum", "add", "a=1", "b=1", ...toolsServer);
    expect(jsonLines((await folder.call("@", "--json", "--requests", "other")).stdout)).toEqual([
      [{ name: "sum", method: "tools/call", params: { name: "add", arguments: { a: 1, b: 1 } } }],
    ]);
  });

  test("says where a file is malformed, and the others are there", async () => {
    using folder = new Requests({
      "good.json": request("ping", {}),
      "broken.json": '{\n  "method": "ping",\n  "params": {,}\n}',
      "list.json": "[]",
      "typo.json": '{\n  "method": "ping",\n  "parms": {}\n}',
      "number.json": '{ "method": "ping", "params": 1.0 }',
      "empty.json": "",
    });
    const { code, stdout, stderr } = await folder.call("@");
    expect(code).toBe(0);
    expect(stdout).toBe("@good  ping\n");
    expect(stderr.split("\n")).toEqual([
      expect.stringMatching(/^\.parlance\/requests\/broken\.json:3:14: /),
      expect.stringMatching(/^\.parlance\/requests\/empty\.json:1:1: /),
      ".parlance/requests/list.json:1:1: a request is an object",
      '.parlance/requests/number.json:1:31: "params" must be an object',
      '.parlance/requests/typo.json:3:12: a request has no member "parms"',
      "",
    ]);
    const called = await folder.call("@broken", ...toolsServer);
    expect(called).toMatchObject({ code: 1, stdout: "" });
    expect(called.stderr).toContain(".parlance/requests/broken.json:3:14: ");
    expect((await folder.call("@goood", ...toolsServer)).stderr).toContain("did you mean good?");
  });

  test.skipIf(process.platform === "win32")(
    "is all that is read: no link leads out of it, and no pipe stops it",
    async () => {
      using folder = new Requests();
      writeFileSync(folder.at("secret.json"), request("ping", { key: "secret" }));
      symlinkSync(folder.at("secret.json"), join(folder.folder, "link.json"));
      execFileSync("mkfifo", [join(folder.folder, "pipe.json")]);
      const { stdout, stderr } = await folder.call("@", "--json");
      expect(stdout).toBe("[]\n");
      expect(stderr).toContain(".parlance/requests/link.json: it is a link\n");
      expect(stderr).toContain(".parlance/requests/pipe.json: it is not a file\n");
      expect((await folder.call("@../../secret", ...toolsServer)).stderr).toContain("has a path separator");
    },
  );
});
