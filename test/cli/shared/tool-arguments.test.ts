import { expect, test } from "vitest";
import { argumentsFor, parseArguments } from "../../../packages/cli/src/shared/client/tool-arguments.js";

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
