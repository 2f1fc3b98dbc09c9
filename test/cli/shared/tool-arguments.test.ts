import { execFileSync } from "node:child_process";
import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { expect, test } from "vitest";
import { commandLineOf } from "../../../packages/cli/src/commands/open/offers.js";
import { argumentsFor, parseArguments, parseCall } from "../../../packages/cli/src/shared/client/tool-arguments.js";

const properties = {
  tags: { type: "array" },
  filter: { type: ["object", "null"] },
  either: { type: ["array", "object"] },
  text: { type: ["string", "array"] },
};

test.each([
  ["an array", 'tags=["a","b"]', { tags: ["a", "b"] }],
  ["an object", 'filter={"since":1}', { filter: { since: 1 } }],
  ["one of both", "either={}", { either: {} }],
  ["a text, where the schema allows one", "text=[1]", { text: "[1]" }],
  ["a text, where the type is another", "tags={}", { tags: "{}" }],
  ["a text that is no JSON", "tags=a,b", { tags: "a,b" }],
  ["a text, where the schema has no such argument", "other=[1]", { other: "[1]" }],
])("an argument is %s", (_what, written, args) => {
  expect(argumentsFor(parseArguments([written]), { type: "object", properties })).toEqual(args);
});

test.each([
  ["an object is all of them", ['{"tags":["a"],"n":1}'], { tags: ["a"], n: 1 }],
  ["an object is several of them", ['{"text":"x=y"}', "tags=[1]"], { text: "x=y", tags: [1] }],
  ["a text of an object is not read by the schema", ['{"tags":"[1]"}'], { tags: "[1]" }],
  ["a number beyond 2^53 stays exact", ['{"n":9007199254740993}'], { n: ExactNumber.parse("9007199254740993") }],
])("%s", (_what, words, args) => {
  expect(argumentsFor(parseArguments(words), { type: "object", properties })).toEqual(args);
});

test.each([
  ["{a:1}", /^\{a:1\} is not JSON: /],
  ['{"a":1}]', /^\{"a":1\}\] is not JSON: /],
])("the object %j is refused", (word, message) => {
  expect(() => parseArguments([word])).toThrow(message);
});

test("a command line that the page offers is read as the arguments that were sent", () => {
  const args = { plain: "x", "a=b": "x", "{c": [1], "d:": "x", "e'": 2 };
  const words = commandLineOf(
    { title: "http://localhost/mcp", command: undefined },
    "tools/call",
    { name: "t", arguments: args },
    {},
  );
  const shown = execFileSync("sh", ["-c", `printf '%s\\n' ${words?.replace(/^parlance /, "")}`], { encoding: "utf8" });
  const [, , , ...written] = shown.trimEnd().split("\n");
  expect(argumentsFor(parseArguments(written), {})).toEqual(args);
});

test("an argument stands in an object or beside it", () => {
  expect(() => parseArguments(['{"a":1}', "a=2"])).toThrow("the argument a is given twice");
});

test.each([
  ['add {"a":1}', { a: 1 }],
  ['add {"a":{"b":["c d"]}} n:=2', { a: { b: ["c d"] }, n: 2 }],
  ['add tags=["a","b c"]', { tags: ["a", "b c"] }],
  ['add tags:=["it\'s"]', { tags: ["it's"] }],
  ['add either:=["a \\"quote\\""]', { either: ['a "quote"'] }],
  ["add n:='[\"a\"]'", { n: ["a"] }],
  ['add text="see [1] and {x}" n:=1', { text: "see [1] and {x}", n: 1 }],
  ["add text=[x", { text: "[x" }],
])("--call %j", (text, args) => {
  const { tool, args: written } = parseCall(text);
  expect({ tool, args: argumentsFor(written, { type: "object", properties }) }).toEqual({ tool: "add", args });
});
