import { describe, expect, test } from "vitest";
import { type Allowance, judge } from "./findings.js";
import { mayImport } from "./import-table.js";
import { findings, rules } from "./rules.js";
import { parseSource } from "./source.js";

/** A small source that breaks one rule, or comes close to it without breaking it. */
interface Case {
  readonly says: string;
  readonly path: string;
  readonly text: string;
  /** The findings of the rule, in order; none for valid code. */
  readonly finds: readonly string[];
  /** The sources beside it, by path. */
  readonly beside?: Readonly<Record<string, string>>;
}

const src = "packages/mcp/src";
const published = new Set(["@parlance/mcp", "@parlance/mcp/server", "@parlance/wire", "@parlance/cli"]);

const cases: Readonly<Record<string, readonly Case[]>> = {
  imports: [
    {
      says: "a folder imports one that its row does not name",
      path: `${src}/server/server.ts`,
      text: `import { connect } from "../client/connect.js";`,
      finds: ["../client/connect.js"],
    },
    {
      says: "a type counts like a value",
      path: `${src}/jsonrpc/codec.ts`,
      text: `import type { Tool } from "../protocol/tool.js"; export type T = import("../server/server.js").Server;`,
      finds: ["../protocol/tool.js", "../server/server.js"],
    },
    {
      says: "a re-export and a dynamic import count like an import",
      path: `${src}/base/json.ts`,
      text: `export * from "../jsonrpc/codec.js"; export { a } from "../schema/compile.js"; await import("../http/handler.js");`,
      finds: ["../jsonrpc/codec.js", "../schema/compile.js", "../http/handler.js"],
    },
    {
      says: "one module of a folder may be open where the others are not",
      path: `${src}/bridge/bridge.ts`,
      text: `import type { Servable } from "../server/servable.js"; import { createServer } from "../server/server.js";`,
      finds: ["../server/server.js"],
    },
    {
      says: "a folder without a row is not part of the house",
      path: `${src}/utils/text.ts`,
      text: "export const a = 1;",
      finds: ["utils"],
    },
    {
      says: "a name that every object has is no row",
      path: `${src}/constructor/text.ts`,
      text: "export const a = 1;",
      finds: ["constructor"],
    },
    {
      says: "a file beside the folders is not part of the house",
      path: `${src}/index.ts`,
      text: "export const a = 1;",
      finds: ["mcp"],
    },
    {
      says: "the library leaves its own sources",
      path: `${src}/entries/index.ts`,
      text: `import "../../../cli/src/main.js"; import "../../package.json";`,
      finds: ["../../../cli/src/main.js", "../../package.json"],
    },
    {
      says: "a computed import hides what it needs",
      path: `${src}/client/connect.ts`,
      text: "export const load = (name: string): Promise<unknown> => import(name);",
      finds: ["a computed import"],
    },
    {
      says: "the engine uses a package",
      path: `${src}/jsonrpc/codec.ts`,
      text: `import { z } from "zod"; import spawn from "cross-spawn";`,
      finds: ["zod", "cross-spawn"],
    },
    {
      says: "the folder that a package was bought for may use it",
      path: `${src}/node/child-process.ts`,
      text: `import spawn from "cross-spawn"; import { openClient } from "../client/client.js";`,
      finds: ["../client/client.js"],
    },
    {
      says: "only the tests for users go through the public entries",
      path: `${src}/server/server.ts`,
      text: `import { a } from "@parlance/mcp"; import { b } from "../entries/server.js";`,
      finds: ["@parlance/mcp", "../entries/server.js"],
    },
    {
      says: "the library builds on a package that builds on it",
      path: `${src}/entries/testing.ts`,
      text: `export { Conversation } from "@parlance/wire";`,
      finds: ["@parlance/wire"],
    },
    {
      says: "the package of the tools uses the library by its public entries, and no other package",
      path: "packages/wire/src/json/json-scan.ts",
      text: `import "@parlance/mcp/server"; import "@parlance/cli"; import "zod"; import "../../../mcp/src/base/json.js"; import "../rules/rule.js";`,
      finds: ["@parlance/cli", "zod", "../../../mcp/src/base/json.js"],
    },
    {
      says: "a user reaches past the public entries",
      path: "packages/cli/src/talk.ts",
      text: `import "@parlance/mcp/server"; import "@parlance/mcp/dist/base/json.js"; import "../../mcp/src/base/json.js";`,
      finds: ["@parlance/mcp/dist/base/json.js", "../../mcp/src/base/json.js"],
    },
    {
      says: "an example reaches into another folder",
      path: "examples/service/main.js",
      text: `import "./methods.js"; import "../shared.js"; import "../../packages/cli/src/main.js"; import "zod";`,
      finds: ["../../packages/cli/src/main.js"],
    },
    {
      says: "a bench reaches into the sources",
      path: "bench/run.js",
      text: `import { parse } from "../packages/mcp/src/jsonrpc/codec.js";`,
      finds: ["../packages/mcp/src/jsonrpc/codec.js"],
    },
    {
      says: "a test may open a source, and knows no entry that users do not have",
      path: "test/codec.test.ts",
      text: `import "../packages/mcp/src/jsonrpc/codec.js"; import "@parlance/mcp/codec";`,
      finds: ["@parlance/mcp/codec"],
    },
    {
      says: "what the row names, and the folder itself, are open",
      path: `${src}/client/tools.ts`,
      text: `import "./client.js"; import "../base/json.js"; import "../session/options.js"; import "../jsonrpc/call.js";`,
      finds: [],
    },
  ],
  cycles: [
    {
      says: "two files import each other",
      path: `${src}/base/a.ts`,
      text: `import "./b.js";`,
      beside: { [`${src}/base/b.ts`]: `import "./a.js";` },
      finds: [`${src}/base/b.ts → ${src}/base/a.ts`],
    },
    {
      says: "a cycle around a corner, of types, is found once, from wherever it is entered",
      path: `${src}/jsonrpc/codec.ts`,
      text: `import "../base/d.js";`,
      beside: {
        [`${src}/base/b.ts`]: `import type { C } from "./c.js"; export type B = C;`,
        [`${src}/base/a.ts`]: `import type { B } from "./b.js"; export type A = B;`,
        [`${src}/base/c.ts`]: `export type { A as C } from "./a.js";`,
        [`${src}/base/d.ts`]: `import "./b.js"; import "./a.js";`,
      },
      finds: [`${src}/base/b.ts → ${src}/base/c.ts → ${src}/base/a.ts`],
    },
    {
      says: "a file imports itself",
      path: "examples/service/main.js",
      text: `export { a as b } from "./main.js"; export const a = 1;`,
      finds: ["examples/service/main.js"],
    },
    {
      says: "two ways to the same file are no cycle",
      path: `${src}/base/a.ts`,
      text: `import "./b.js"; import "./c.js";`,
      beside: { [`${src}/base/b.ts`]: `import "./c.js";`, [`${src}/base/c.ts`]: "" },
      finds: [],
    },
  ],
  node: [
    {
      says: "a module of Node, with its prefix or without",
      path: `${src}/server/server.ts`,
      text: `import { readFile } from "node:fs/promises"; import type { Socket } from "net";`,
      finds: ["node:fs/promises", "net"],
    },
    {
      says: "a global of Node, as a value, as a type, through globalThis",
      path: `${src}/base/bytes.ts`,
      text: `export const a = Buffer.from("a"); export let t: NodeJS.Timeout; globalThis.process; globalThis["process"]; f({ [process]: 1 });`,
      finds: ["Buffer", "NodeJS", "process", "process", "process"],
    },
    {
      says: "the page runs in a browser",
      path: "packages/web/src/page.ts",
      text: "export const { process } = globalThis;",
      finds: ["process"],
    },
    {
      says: "a property of that name is no global",
      path: `${src}/base/bytes.ts`,
      text: `export interface A { process(): void } export type B = A.Buffer; export const a = { Buffer: 1, b: "process" }; a.Buffer; class C { process = 1 }`,
      finds: [],
    },
    {
      says: "the folder and the command that are there for Node may use it",
      path: `${src}/node/stdio.ts`,
      text: `import { Readable } from "node:stream"; process.stdin;`,
      beside: { "packages/cli/src/main.ts": `import "node:fs"; process.argv;`, "bench/run.js": "process.argv;" },
      finds: [],
    },
  ],
  dates: [
    {
      says: "a revision by its date, in a string, a template, a key and a pattern",
      path: `${src}/server/server.ts`,
      text: `v === "2024-01-02"; f(\`x \${v} 2024-01-03\`); const t = { "2024-01-04": 1 }; /^2024-01-05/.test(v);`,
      finds: ["2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"],
    },
    {
      says: "an example asks by date",
      path: "examples/service/main.js",
      text: `connect({ revision: "2024-01-02" });`,
      finds: ["2024-01-02"],
    },
    {
      says: "a link to the specification in a comment is welcome",
      path: `${src}/server/server.ts`,
      text: "// https://modelcontextprotocol.io/specification/2024-01-02/server/tools\nexport const a = 20240102;",
      finds: [],
    },
    {
      says: "the revisions are where dates live, and tests speak as the wire does",
      path: `${src}/protocol/revisions/all.ts`,
      text: `export const version = "2024-01-02";`,
      beside: {
        "test/server.test.ts": `export const version = "2024-01-02";`,
        "conformance/server.ts": `export const version = "2024-01-02";`,
      },
      finds: [],
    },
  ],
  any: [
    {
      says: "a parameter, a cast and a type argument",
      path: `${src}/base/json.ts`,
      text: "export function f(a: any) { return a as Map<string, any>; }",
      finds: ["any", "any"],
    },
    { says: "a test", path: "test/a.test.ts", text: "export const a = 1 as any;", finds: ["any"] },
    { says: "an example", path: "examples/a/main.ts", text: "export let a: any;", finds: ["any"] },
    { says: "the command", path: "packages/cli/src/main.ts", text: "export let a: any[];", finds: ["any"] },
    { says: "the word is free", path: "test/a.ts", text: `expect.any(Number); const any = "any"; // any`, finds: [] },
  ],
  "default-export": [
    { says: "a value", path: `${src}/base/json.ts`, text: "export default 1;", finds: ["default"] },
    { says: "a class", path: "packages/cli/src/main.ts", text: "export default class A {}", finds: ["default"] },
    { says: "by renaming", path: "bench/a.js", text: "const a = 1; export { a as default };", finds: ["default"] },
    { says: "handed on", path: "examples/a/b.js", text: `export { default } from "./c.js";`, finds: ["default"] },
    { says: "quoted", path: "test/a.ts", text: `const a = 1; export { a as "default" };`, finds: ["default"] },
    {
      says: "a tool's configuration, and the default of somebody else",
      path: "packages/web/vite.config.ts",
      text: "export default {};",
      beside: { "test/a.ts": `import a from "a"; export { default as b } from "b"; export { a };` },
      finds: [],
    },
  ],
  "file-length": [
    { says: "501 lines", path: `${src}/base/json.ts`, text: "\n".repeat(500).concat("f();\n"), finds: ["length"] },
    { says: "501 lines in a bench", path: "bench/a.js", text: "\n".repeat(500).concat("f();"), finds: ["length"] },
    { says: "500 lines", path: `${src}/base/json.ts`, text: "\n".repeat(499).concat("f();\n"), finds: [] },
    { says: "a table of cases", path: "test/a.test.ts", text: "\n".repeat(500).concat("f();\n"), finds: [] },
  ],
  "function-length": [
    { says: "a function of 81 lines", path: `${src}/a/a.ts`, text: `function f() {${"\n".repeat(80)}}`, finds: ["f"] },
    { says: "a method", path: `${src}/a/a.ts`, text: `class A { #m() {${"\n".repeat(80)}} }`, finds: ["m"] },
    { says: "an arrow function", path: "examples/a.js", text: `const f = () => {${"\n".repeat(80)}}`, finds: ["f"] },
    { says: "a property", path: "bench/a.js", text: `export const o = { f() {${"\n".repeat(80)}} }`, finds: ["f"] },
    { says: "80 lines", path: `${src}/a/a.ts`, text: `function f() {${"\n".repeat(79)}}`, finds: [] },
    { says: "a test", path: "test/a.test.ts", text: `test("a", () => {${"\n".repeat(80)}});`, finds: [] },
  ],
  "folder-size": [
    { says: "21 files", path: `${src}/a/a.ts`, text: "", beside: filesIn(`${src}/a`, 20), finds: ["files"] },
    { says: "21 tests", path: "test/a/a.test.ts", text: "", beside: filesIn("test/a", 20), finds: ["files"] },
    { says: "20 files", path: `${src}/a/a.ts`, text: "", beside: filesIn(`${src}/a`, 19), finds: [] },
    { says: "21 examples", path: "examples/a/a.ts", text: "", beside: filesIn("examples/a", 20), finds: [] },
  ],
  "module-length": [
    {
      says: "39 lines for one importer",
      path: `${src}/a/a.ts`,
      text: "\n".repeat(38).concat("f();\n"),
      beside: { [`${src}/a/b.ts`]: 'import "./a.js";', "test/a.test.ts": `import "../${src}/a/a.js";` },
      finds: ["length"],
    },
    {
      says: "40 lines for one importer",
      path: `${src}/a/a.ts`,
      text: "\n".repeat(39).concat("f();\n"),
      beside: { [`${src}/a/b.ts`]: 'import "./a.js";' },
      finds: [],
    },
    {
      says: "one line for two importers",
      path: `${src}/a/a.ts`,
      text: "f();",
      beside: { [`${src}/a/b.ts`]: 'import "./a.js";', [`${src}/b/c.ts`]: 'import "../a/a.js";' },
      finds: [],
    },
  ],
};

/** So many files of a folder. */
function filesIn(folder: string, count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/file-${index}.ts`, ""]));
}

describe.each(Object.entries(cases))("the rule %s", (rule, examples) => {
  test.each(examples)("$says", ({ path, text, beside = {}, finds }) => {
    const texts = Object.entries({ [path]: text, ...beside });
    const sources = texts.map(([name, content]) => parseSource(name, content));
    const found = findings({ sources, published }).filter((finding) => finding.rule === rule);
    expect(found.map(({ what }) => what)).toEqual(finds);
  });
});

test("every rule has a source that it finds fault with, and one that it does not", () => {
  const proven = Object.entries(cases).filter(([, examples]) =>
    [true, false].every((silent) => examples.some(({ finds }) => (finds.length === 0) === silent)),
  );
  expect(proven.map(([rule]) => rule)).toEqual([...rules.keys()]);
});

test("a finding says where it is", () => {
  const sources = [parseSource(`${src}/base/a.ts`, `const a = 1;\n\nimport "node:fs";`)];
  expect(findings({ sources, published })).toMatchObject([{ rule: "node", path: `${src}/base/a.ts`, line: 3 }]);
});

test("a source that does not parse is named", () => {
  expect(() => parseSource("test/a.ts", "const = 1;")).toThrow(/^test\/a\.ts does not parse/);
});

test("the table names no folder that has no row", () => {
  const named = [...mayImport.values()].flat().map((target) => target.split("/")[0] ?? "");
  expect(named.filter((folder) => !mayImport.has(folder))).toEqual([]);
});

test("the allow-list covers what it names and nothing else, and an entry that covers nothing is reported", () => {
  const finding = { rule: "any", path: "test/a.ts", what: "any", line: 1, message: "" };
  const needed: Allowance = { rule: "any", path: "test/a.ts", what: "any", reason: "" };
  const others = [
    { ...finding, path: "test/b.ts" },
    { ...finding, what: "any[]" },
  ];
  const stale = { ...needed, rule: "cycles" };
  expect(judge([finding, ...others], [needed, stale])).toEqual({ open: others, unneeded: [stale] });
});
