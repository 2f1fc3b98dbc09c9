import { versions } from "@parlance/mcp";
import type { Client, ClientOptions } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { fixture, parlance } from "../../cli/run.js";
import { openWith } from "../../client/session/openings.js";
import { open as openHttp } from "../../http/client/opened.js";
import { result as answer, playModern } from "../../http/client/played-server.js";
import { failure, parse, success } from "../../testing/frames.js";

const good = { name: "good", inputSchema: { type: "object" } };
const everything = { tools: {}, resources: {}, prompts: {} };

/** A value that is nested so many levels deep. */
function deep(levels: number): unknown {
  return JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
}

interface Read {
  readonly names: readonly unknown[];
  readonly reports: readonly string[];
}

/** Reads a list whose pages a server gives as they are written here; an error code stands for a refusal. */
async function read(
  act: (client: Client) => Promise<readonly { readonly name: string }[]>,
  pages: readonly (object | number)[],
  version = "2025-11-25",
): Promise<Read> {
  const reports: string[] = [];
  const options: ClientOptions = { report: (each) => void reports.push(describeReport(each)) };
  await using open = await openWith(version, options, everything);
  const list = act(open.client);
  for (const page of pages) {
    const { id = "" } = parse(await open.peer.next());
    open.peer.send(typeof page === "number" ? failure(id, page, "no") : success(id, page));
  }
  return { names: (await list).map(({ name }) => name), reports };
}

const tools = (client: Client): Promise<readonly { readonly name: string }[]> => client.tools.list().all();

const left = (name: string, reason: string): string => `left "${name}" out of the answer to tools/list: ${reason}`;
const took = (what: string): string => `accepted "tools/list": ${what}`;

describe.each(versions)("C10: one bad tool spoils only itself in %s:", (version) => {
  test.each<[string, unknown, string]>([
    ["no object", 7, left("tools[0]", "it must be an object, got a number")],
    ["null", null, left("tools[0]", "it must be an object, got null")],
    ["without a name", { inputSchema: {} }, left("tools[0]", "name must be a string, got nothing")],
    ["with a number for a name", { name: 5 }, left("tools[0]", "name must be a string, got a number")],
    [
      "with arguments that are no schema",
      { name: "bad", inputSchema: true },
      left("bad", "inputSchema must be an object, got a boolean"),
    ],
    ["65 levels deep", { name: "bad", inputSchema: { enum: [deep(60)] } }, left("bad", "nested deeper than 64 levels")],
    [
      "200 levels deep",
      { name: "bad", inputSchema: { enum: [deep(200)] } },
      left("bad", "nested deeper than 64 levels"),
    ],
    [
      "3,000 levels deep",
      { name: "bad", inputSchema: { enum: [deep(3_000)] } },
      left("bad", "nested deeper than 64 levels"),
    ],
    ["deep, and an array", deep(100), left("tools[0]", "nested deeper than 64 levels")],
    [
      "with too many members",
      { name: "bad", inputSchema: Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`m${index}`, 1])) },
      left("bad", "an object with 10001 members, at most 10000 are accepted"),
    ],
  ])("%s is left out", async (_, bad, report) => {
    expect(await read(tools, [{ tools: [bad, good] }], version)).toEqual({ names: ["good"], reports: [report] });
  });
});

describe("C10: a tool is kept", () => {
  test.each<[string, object, string]>([
    ["without inputSchema", {}, 'the tool "bare" has no inputSchema: it is taken for one that takes any arguments'],
    [
      "with inputSchema null",
      { inputSchema: null },
      'the tool "bare" has no inputSchema: it is taken for one that takes any arguments',
    ],
    [
      "with outputSchema null",
      { inputSchema: { type: "object" }, outputSchema: null },
      'the tool "bare" has an outputSchema that is null: its results are not checked',
    ],
  ])("%s, with a report", async (_, members, what) => {
    const bare = { name: "bare", ...members };
    expect(await read(tools, [{ tools: [bare, good] }])).toEqual({ names: ["bare", "good"], reports: [took(what)] });
  });

  test.each<[string, object]>([
    ["in an unknown dialect", { $schema: "https://example.com/my-dialect", type: "object" }],
    ["that refers to elsewhere", { $ref: "https://example.com/elsewhere.json" }],
    ["that is malformed", { type: "a banana" }],
  ])("with an outputSchema %s: it is called, unchecked, with one report", async (_, outputSchema) => {
    const reports: string[] = [];
    await using open = await openWith("2025-11-25", { report: (each) => void reports.push(describeReport(each)) });
    const list = open.client.tools.list().all();
    open.peer.send(success(parse(await open.peer.next()).id ?? "", { tools: [{ ...good, outputSchema }] }));
    expect(await list).toHaveLength(1);
    for (const structuredContent of [{ a: 1 }, 5]) {
      const call = open.client.tools.call("good");
      open.peer.send(success(parse(await open.peer.next()).id ?? "", { content: [], structuredContent }));
      expect(await call).toEqual({ content: [], structuredContent });
    }
    expect(reports).toEqual([
      expect.stringMatching(
        /^accepted "tools\/list": the tool "good" has an outputSchema that cannot be used, so its results are not checked: ./,
      ),
    ]);
  });
});

describe("C10: a list", () => {
  const member = "tools";

  test.each<[string, object, string]>([
    ["null", { tools: null }, `${member} is null, not an array`],
    ["missing", {}, `${member} is missing, not an array`],
  ])("that is %s is empty", async (_, page, what) => {
    expect(await read(tools, [page])).toEqual({ names: [], reports: [took(what)] });
  });

  test("with a cursor that is null is at its end", async () => {
    expect(await read(tools, [{ tools: [good], nextCursor: null }])).toEqual({ names: ["good"], reports: [] });
  });

  test("whose empty cursor is repeated ends, and holds every tool once", async () => {
    const page = { tools: [good], nextCursor: "" };
    const what = 'nextCursor "" is repeated: the list ends here';
    expect(await read(tools, [page, page])).toEqual({ names: ["good"], reports: [took(what)] });
  });

  test("whose empty cursor is refused ends", async () => {
    const what = 'nextCursor is "", which the server does not take for a cursor';
    const pages = [{ tools: [good], nextCursor: "" }, -32_602];
    expect(await read(tools, pages)).toEqual({ names: ["good"], reports: [took(what)] });
  });

  test("whose empty cursor leads on is read to its end", async () => {
    const pages = [{ tools: [good], nextCursor: "" }, { tools: [{ ...good, name: "second" }] }];
    expect(await read(tools, pages)).toEqual({ names: ["good", "second"], reports: [] });
  });

  test("whose cursor is repeated ends with what is new", async () => {
    const pages = [
      { tools: [good], nextCursor: "a" },
      { tools: [good, { ...good, name: "second" }], nextCursor: "a" },
    ];
    const what = 'nextCursor "a" is repeated: the list ends here';
    expect(await read(tools, pages)).toEqual({ names: ["good", "second"], reports: [took(what)] });
  });
});

describe("C10: resources, templates and prompts are treated alike:", () => {
  test.each<[string, (client: Client) => Promise<readonly { readonly name: string }[]>, object]>([
    ["resources", (client) => client.resources.list().all(), { uri: "a:b" }],
    ["resourceTemplates", (client) => client.resources.templates().all(), { uriTemplate: "a:{b}" }],
    ["prompts", (client) => client.prompts.list().all(), {}],
  ])("%s", async (list, act, key) => {
    const sound = { ...key, name: "good" };
    const { names, reports } = await read(act, [
      { [list]: [sound, 5, { name: 7 }, { ...sound, _meta: { deep: deep(99) } }] },
    ]);
    expect(names).toEqual(["good"]);
    expect(reports).toHaveLength(3);
  });

  test("a resource without a name is called by its URI", async () => {
    const { names, reports } = await read((client) => client.resources.list().all(), [{ resources: [{ uri: "a:b" }] }]);
    expect(names).toEqual(["a:b"]);
    expect(reports).toEqual(['accepted "resources/list": "a:b" has no name']);
  });
});

describe("A13: over HTTP", () => {
  test("a tool that is too deep loses nothing but itself", async () => {
    await using server = await playModern();
    await using opened = await openHttp(server);
    const list = opened.client.tools.list().all();
    answer(await server.next(), { tools: [{ name: "bad", inputSchema: { enum: [deep(99)] } }, good] });
    expect((await list).map(({ name }) => name)).toEqual(["good"]);
    expect(opened.reports).toEqual([left("bad", "nested deeper than 64 levels")]);
  });
});

describe("A13: what is deep outside of a list still fails the call at once:", () => {
  test.each<[string, object]>([
    ["in _meta of the list", { tools: [good], _meta: { deep: deep(99) } }],
    ["in a list that is no list", { tools: { deep: deep(99) } }],
  ])("%s", async (_, page) => {
    await expect(read(tools, [page])).rejects.toThrow(
      "tools/list (id 2): the answer is not a response: nested deeper than 64 levels",
    );
  });

  test("in the result of a call", async () => {
    await using open = await openWith("2025-11-25");
    const call = open.client.tools.call("t");
    open.peer.send(success(parse(await open.peer.next()).id ?? "", { content: [deep(99)] }));
    await expect(call).rejects.toThrow("the answer is not a response: nested deeper than 64 levels");
  });
});

describe("C10: the command", () => {
  const quirky = ["--", process.execPath, fixture("misbehaving-server.js"), "definitions"];

  test("calls a tool beside bad ones, and says what it has left out", async () => {
    const { code, stdout, stderr } = await parlance(["call", "bare", ...quirky]);
    expect(stdout).toContain("called bare");
    expect(stderr).toContain('left "deep" out of the answer to tools/list: nested deeper than 64 levels');
    expect(code).toBe(0);
  });

  test("lists the sound ones beside bad ones", async () => {
    const { stdout } = await parlance(["list", "tools", ...quirky]);
    expect(stdout).toContain("bare");
    expect(stdout).toContain('left out: "deep" is nested deeper than 64 levels');
  });
});
