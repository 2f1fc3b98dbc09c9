import { expect } from "vitest";
import { ask, type Behaviour, callTool, older, refusal, textOf } from "../behaviour.js";
import { differences, of } from "../differences.js";
import type { Fields } from "../driver.js";

const kinds = ["text", "image", "audio", "link", "embedded"];

const structures = [
  {
    kind: "an object",
    name: "sum",
    args: { a: 2, b: 3 },
    text: '{"sum":5}',
    difference: differences.structuredObject,
  },
  { kind: "an array", name: "series", text: "[1,2,3]", difference: differences.structuredArray },
  { kind: "null", name: "nothing", text: "null", difference: differences.structuredNull },
];

/** https://modelcontextprotocol.io/specification/latest/server/tools */
export const tools: readonly Behaviour[] = [
  {
    name: "a tool is listed with the words that the revision has",
    async run(driver) {
      const listed = await driver.list("tools/list");
      expect(listed.find(({ name }) => name === "sum")).toEqual(of(differences.toolWords, driver.revision));
      for (const [name, words] of Object.entries(of(differences.otherStructureWords, older(driver)))) {
        const found = listed.find((each) => each.name === name) ?? {};
        expect(Object.entries(found), name).toEqual(Object.entries(words)); // In this order.
      }
    },
  },
  {
    name: "tools are listed in the same order every time",
    async run(driver) {
      const [first, second] = [await driver.list("tools/list"), await driver.list("tools/list")];
      expect(first.slice(0, 3).map(({ name }) => name)).toEqual(["effects", "text", "image"]);
      expect(second).toEqual(first);
    },
  },
  ...kinds.map(
    (kind): Behaviour => ({
      name: `a tool returns content: ${kind}`,
      async run(driver) {
        const { content } = await callTool(driver, kind);
        expect(content).toEqual([of(differences.blocks, driver.revision)[kind]]);
      },
    }),
  ),
  ...structures.map(
    ({ kind, name, args = {}, text, difference }): Behaviour => ({
      name: `structured output that is ${kind} comes with its text`,
      async run(driver) {
        const { content, structuredContent } = await callTool(driver, name, args);
        expect(content).toEqual([{ type: "text", text }]);
        expect(structuredContent).toEqual(of(difference, older(driver)).structuredContent);
      },
    }),
  ),
  {
    name: "structured output without words is not lost",
    async run(driver) {
      const { content, structuredContent } = await callTool(driver, "silent");
      const expected = of(differences.silent, driver.revision);
      expect({ content, structuredContent }).toEqual({ structuredContent: undefined, ...expected });
    },
  },
  {
    name: "a tool that fails says so to the model",
    async run(driver) {
      const result = await callTool(driver, "refuse");
      expect(result).toMatchObject({ isError: true, content: [{ type: "text", text: "I would rather not" }] });
    },
  },
  {
    name: "arguments that do not fit are answered with a result that names their places",
    async run(driver) {
      const { isError, content } = await callTool(driver, "greet", { name: 3, times: 0 });
      expect(isError).toBe(true);
      const [{ text = "" } = {}] = content as readonly { readonly text?: string }[];
      expect(text).toMatch(/^Invalid arguments for tool greet:\n\/name: .+\n\/times: .+$/);
    },
  },
  {
    name: "arguments that are left out have their defaults",
    async run(driver) {
      expect(await textOf(driver, "greet", { name: "Ada" })).toBe("Hello, Ada.");
      expect(await textOf(driver, "greet", { name: "Ada", times: 2 })).toBe("Hello, Ada. Hello, Ada.");
    },
  },
  {
    name: "a tool that does not exist is refused",
    async run(driver) {
      const outcome = await driver.call("tools/call", { name: "nobody" });
      expect(outcome).toMatchObject(refusal(-32_602, "/name"));
    },
  },
  {
    name: "params that are no call of a tool are refused with their places",
    unsound: true,
    async run(driver) {
      const malformed: readonly (readonly [Fields, string])[] = [
        [{ arguments: {} }, "/name"],
        [{ name: "echo", arguments: ["text"] }, "/arguments"],
      ];
      for (const [params, path] of malformed) {
        expect(await driver.call("tools/call", params)).toMatchObject(refusal(-32_602, path));
      }
    },
  },
  {
    name: "a list comes in pages, and all of them are the whole list",
    async run(driver) {
      const { tools: page, nextCursor } = await ask(driver, "tools/list");
      const { tools: next } = await ask(driver, "tools/list", { cursor: nextCursor });
      const all = await driver.list("tools/list");
      expect(page).toEqual(all.slice(0, 5));
      expect(next).toEqual(all.slice(5, 10));
      expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    },
  },
  {
    name: "a cursor that was never given out is refused, in every list",
    unsound: true,
    async run(driver) {
      for (const method of ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]) {
        for (const cursor of ["made up", "", 5]) {
          expect(await driver.call(method, { cursor }), method).toMatchObject(refusal(-32_602, "/cursor"));
        }
      }
    },
  },
];
