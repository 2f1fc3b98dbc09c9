import { describe, expect, test } from "vitest";
import { latest, latestHandshake, revisionOf, revisions } from "../../../packages/mcp/src/protocol/revisions/all.js";
import {
  type PartName,
  publish,
  type Revision,
  revise,
} from "../../../packages/mcp/src/protocol/revisions/revision.js";
import { v2024_11_05 } from "../../../packages/mcp/src/protocol/revisions/v2024-11-05.js";
import { png, result, tools } from "./examples.js";
import { hasSchemas, problems } from "./published.js";

const older = revisions.filter((revision) => revision !== latest);

/** The revision of a version that exists. */
function revision(version: string): Revision {
  const found = revisionOf(version);
  if (found === undefined) throw new Error(`no revision ${version}`);
  return found;
}

/** Every member name in a value, but not those inside of schemas, which belong to the author of the tool. */
function memberNames(value: unknown): ReadonlySet<string> {
  if (typeof value !== "object" || value === null) return new Set();
  const nested = Object.entries(value).filter(([name]) => name !== "inputSchema" && name !== "outputSchema");
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return new Set([...names, ...nested.flatMap(([, member]) => [...memberNames(member)])]);
}

const since: readonly (readonly [version: string, members: readonly string[]])[] = [
  ["2025-03-26", ["readOnlyHint"]],
  ["2025-06-18", ["outputSchema", "structuredContent", "lastModified"]],
  ["2025-11-25", ["icons"]],
  ["2026-07-28", ["resultType", "ttlMs", "cacheScope"]],
];

describe("the way down", () => {
  test.each(older)("$version gets no member that a later revision brought", ({ version, down }) => {
    const later = since.filter(([from]) => from > version).flatMap(([, members]) => members);
    const listed = down("result", "tools/list", tools);
    const called = down("result", "tools/call", result);
    const names = new Set([...memberNames(listed), ...memberNames(called)]);
    expect(later.filter((name) => names.has(name))).toEqual([]);
  });

  test("the values that go down are not touched", () => {
    const before = JSON.stringify([tools, result]);
    for (const { down } of revisions) {
      down("result", "tools/list", tools);
      down("result", "tools/call", result);
    }
    expect(JSON.stringify([tools, result])).toBe(before);
  });

  test("the newest revision gives back what it gets", () => {
    expect(latest.down("result", "tools/list", tools)).toBe(tools);
    expect(latest.down("result", "tools/call", result)).toBe(result);
  });

  const plain: readonly (readonly [PartName, string, unknown])[] = [
    ["result", "tools/call", { content: [{ type: "text", text: "hi" }], isError: false, _meta: { a: 1 } }],
    ["result", "tools/call", { content: [] }],
    ["result", "tools/list", { tools: [{ name: "a", inputSchema: { type: "object", properties: { b: {} } } }] }],
    ["result", "tools/list", { tools: [] }],
    ["result", "ping", {}],
    ["result", "acme/method", {}],
    ["notification", "notifications/progress", { progressToken: 1, progress: 2, total: 3 }],
    ["notification", "notifications/progress", undefined],
    ["params", "tools/call", { name: "a", arguments: { title: "b", icons: [] } }],
    ["params", "unknown", undefined],
    ["result", "tools/call", null],
    ["result", "tools/call", "text"],
    ["result", "tools/call", [{ resultType: "complete" }]],
    ["result", "tools/call", { content: "text" }],
    ["result", "tools/call", { content: [null, 1, Number.NaN, { type: "image" }, { type: "resource", resource: 1 }] }],
    ["result", "tools/list", { tools: { name: "a" } }],
  ];

  test.each(plain)("the %s of %s comes back as the same value: %j", (of, method, value) => {
    for (const { down } of revisions) expect(down(of, method, value)).toBe(value);
  });

  test("every result loses its envelope, and keeps its _meta", () => {
    const discovered = { resultType: "complete", ttlMs: 0, cacheScope: "private", a: 1, _meta: { b: 2 } };
    for (const { down } of older) {
      expect(down("result", "any/method", discovered)).toEqual({ a: 1, _meta: { b: 2 } });
      expect(down("result", "tools/call", discovered)).toEqual({ a: 1, _meta: { b: 2 } });
    }
  });

  test("a list of tools, revision by revision", () => {
    const listed = (version: string): unknown => revision(version).down("result", "tools/list", tools);
    const meta = tools._meta;
    const inputSchema = {
      type: "object",
      properties: { title: { type: "string" }, rest: {}, no: { not: {} }, icons: { type: "array" } },
      required: ["title"],
      additionalProperties: false,
    };
    const outputSchema = { type: "object", properties: { commits: {} }, $defs: { icons: {} } };
    const [log] = tools.tools;
    const others = ["git_tags", "git_head"].map((name) => ({ name, inputSchema: { type: "object" } }));
    const tags = { type: "array", items: { type: "string" } };
    const head = { anyOf: [{ type: "null" }, { type: "object" }] };
    const wrapped = (result: object): object => ({ type: "object", properties: { result }, required: ["result"] });
    const structured = [
      { ...others[0], outputSchema: wrapped(tags) },
      { ...others[1], outputSchema: { type: "object", anyOf: [head, wrapped({ $ref: "#/anyOf/0" })] } },
    ];
    expect(listed("2025-11-25")).toEqual({
      nextCursor: "2",
      _meta: meta,
      tools: [{ ...log, inputSchema, outputSchema }, ...structured],
    });
    const { icons, ...withoutIcons } = log ?? {};
    expect(listed("2025-06-18")).toEqual({
      nextCursor: "2",
      _meta: meta,
      tools: [{ ...withoutIcons, inputSchema, outputSchema }, ...structured],
    });
    const named = { name: "git_log", description: "The history", inputSchema };
    expect(listed("2025-03-26")).toEqual({
      nextCursor: "2",
      _meta: meta,
      tools: [{ ...named, annotations: { title: "Log", readOnlyHint: true } }, ...others],
    });
    expect(listed("2024-11-05")).toEqual({ nextCursor: "2", _meta: meta, tools: [named, ...others] });
  });

  test("taskSupport is sent in the revisions with tasks in the core", () => {
    const named = { name: "a", inputSchema: { type: "object" } };
    const listed = { tools: [{ ...named, execution: { taskSupport: "required" } }] };
    expect(revision("2025-11-25").down("result", "tools/list", listed)).toBe(listed);
    expect(revision("2026-07-28").down("result", "tools/list", listed)).toEqual({ tools: [named] });
    expect(revision("2025-06-18").down("result", "tools/list", listed)).toEqual({ tools: [named] });
  });

  test("tasks are promised where they belong to the core", () => {
    const promised = { capabilities: { tools: {}, tasks: { list: {} } } };
    const told = revisions.map(({ version, down }) => {
      const opening = version === "2026-07-28" ? "server/discover" : "initialize";
      const { capabilities } = down("result", opening, promised) as typeof promised;
      return `${version} ${Object.keys(capabilities).join(" ")}`;
    });
    expect(told.filter((each) => each.endsWith("tasks"))).toEqual(["2025-11-25 tools tasks"]);
  });

  test("a tool's result, in the first revision", () => {
    expect(revision("2024-11-05").down("result", "tools/call", result)).toEqual({
      _meta: result._meta,
      content: [
        { type: "text", text: "none", annotations: { priority: 1 } },
        png,
        {
          type: "text",
          text: "[audio that this revision of the protocol cannot carry: audio/wav]",
          annotations: { audience: ["user"] },
        },
        {
          type: "text",
          text: "Resource link: Read me\nfile:///README.md\ntext/markdown\nWhat it is",
          annotations: { audience: ["assistant"] },
        },
        { type: "resource", resource: { uri: "file:///a", text: "a" } },
      ],
    });
  });

  test.each([[null], [[1, 2]], ["text"], [0], [false]])(
    "structured content %j is wrapped where it must be an object, and dropped where there is none",
    (value) => {
      const content = [{ type: "text", text: "said" }];
      for (const { down, facts } of older) {
        const wrapped = facts.structuredContent === "object" ? { structuredContent: { result: value } } : {};
        expect(down("result", "tools/call", { content, structuredContent: value })).toEqual({ content, ...wrapped });
      }
    },
  );

  test("structured content that nothing else says becomes text where it cannot be carried as it is", () => {
    const history = revisions.map(({ down }) => down("result", "tools/call", { content: [], structuredContent: [1] }));
    const said = { content: [{ type: "text", text: "[1]" }] };
    const wrapped = { ...said, structuredContent: { result: [1] } };
    expect(history).toEqual([said, said, wrapped, wrapped, { content: [], structuredContent: [1] }]);
    const object = { content: [], structuredContent: { a: 1 } };
    expect(revision("2025-06-18").down("result", "tools/call", object)).toBe(object);
    expect(revision("2025-03-26").down("result", "tools/call", object)).toEqual({
      content: [{ type: "text", text: '{"a":1}' }],
    });
  });

  test("progress says nothing in words in the first revision", () => {
    const params = { progressToken: 1, progress: 2, message: "half" };
    const history = revisions.map(({ down }) => down("notification", "notifications/progress", params));
    expect(history).toEqual([{ progressToken: 1, progress: 2 }, params, params, params, params]);
  });

  test("initialize introduces both sides as far as the revision can", () => {
    const info = {
      name: "git",
      version: "1",
      title: "Git",
      description: "d",
      websiteUrl: "https://git.example",
      icons: [],
    };
    const named = { name: "git", version: "1" };
    const history = revisions
      .filter(({ era }) => era === "handshake")
      .map(({ down }) => [
        down("params", "initialize", { clientInfo: info, capabilities: { elicitation: {}, roots: {} } }),
        down("result", "initialize", { serverInfo: info, capabilities: { completions: {}, tools: {} } }),
      ]);
    expect(history).toEqual([
      [
        { clientInfo: named, capabilities: { roots: {} } },
        { serverInfo: named, capabilities: { tools: {} } },
      ],
      [
        { clientInfo: named, capabilities: { roots: {} } },
        { serverInfo: named, capabilities: { completions: {}, tools: {} } },
      ],
      [
        { clientInfo: { ...named, title: "Git" }, capabilities: { elicitation: {}, roots: {} } },
        { serverInfo: { ...named, title: "Git" }, capabilities: { completions: {}, tools: {} } },
      ],
      [
        { clientInfo: info, capabilities: { elicitation: {}, roots: {} } },
        { serverInfo: info, capabilities: { completions: {}, tools: {} } },
      ],
    ]);
  });

  test("members with the names of Object's own survive", () => {
    const properties = JSON.parse('{"__proto__":true,"constructor":false}') as Record<string, unknown>;
    const listed = { resultType: "complete", tools: [{ name: "a", inputSchema: { type: "object", properties } }] };
    expect(JSON.stringify(latestHandshake.down("result", "tools/list", listed))).toBe(
      '{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"__proto__":{},"constructor":{"not":{}}}}}]}',
    );
  });

  test("the changes of the newest revision apply first, and those of a type before those of its bases", () => {
    const trace = (mark: string) => (value: unknown) => `${value}${mark}`;
    const of = "result";
    const second = revise(v2024_11_05, "second", { types: { Result: { down: trace("2") } } });
    const third = revise(second, "third", {
      types: { Result: { down: trace("*") }, ListToolsResult: { down: trace("3") } },
    });
    const [first] = publish(third);
    expect(first?.down(of, "tools/list", "")).toBe("3*2");
    expect(first?.down(of, "ping", "")).toBe("*2");
    expect(first?.down("params", "ping", "")).toBe("");
  });
});

describe.skipIf(!hasSchemas)("the published schema, where ../shared/schemas has it,", () => {
  describe.each(revisions)("of $version", ({ version, down }) => {
    test("accepts the list of tools on its way down", () => {
      expect(problems(version, "ListToolsResult", down("result", "tools/list", tools))).toEqual([]);
    });

    test("accepts a tool's result on its way down, whatever its structured content", () => {
      for (const structuredContent of [{ a: 1 }, [1], null, "text"]) {
        for (const content of [result.content, []]) {
          const called = down("result", "tools/call", { ...result, content, structuredContent });
          expect(problems(version, "CallToolResult", called)).toEqual([]);
        }
      }
    });

    test("accepts progress on its way down", () => {
      const progress = { progressToken: "a", progress: 0.5, message: "half" };
      const params = down("notification", "notifications/progress", progress);
      const message = { jsonrpc: "2.0", method: "notifications/progress", params };
      expect(problems(version, "ProgressNotification", message)).toEqual([]);
    });
  });

  test("refuses the newest shapes where they need a step", () => {
    expect(problems("2025-11-25", "ListToolsResult", tools)).not.toEqual([]);
    expect(problems("2025-11-25", "CallToolResult", { ...result, structuredContent: null })).not.toEqual([]);
    expect(problems("2025-03-26", "CallToolResult", result)).not.toEqual([]);
    expect(problems("2024-11-05", "CallToolResult", { content: [result.content[2]] })).not.toEqual([]);
  });
});
