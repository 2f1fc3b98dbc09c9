import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { latest } from "@parlance/mcp";
import { Conversation, describeVerdict, specOf } from "@parlance/wire";
import { expect, test } from "vitest";
import { portabilityRules } from "../../../packages/wire/src/rules/portability.js";
import { recorded } from "../recording/recorded.js";
import { talkOf } from "./talk.js";

interface Definition {
  readonly name?: string;
  readonly inputSchema: object;
}

/** The rules that refuse a definition, with their pointers in it. */
function refusalsOf({ name = "work", inputSchema }: Definition): readonly string[] {
  const talk = talkOf("2025-11-25");
  const conversation = new Conversation();
  const said = [...talk.opening(), talk.list(1), talk.listed(1, [{ name, inputSchema }])];
  for (const entry of recorded(...said)) conversation.push(entry);
  for (const verdict of conversation.portability()) {
    expect(verdict.level).toBe("may");
    expect(verdict.spec).toMatch(/^https:/);
    expect(describeVerdict(verdict)).toContain(name.slice(0, 40));
  }
  return conversation
    .portability()
    .map(({ rule, pointer = "" }) => `${rule.id} ${pointer.replace("/result/tools/0/", "")}`);
}

const object = (more: object, properties: object = {}): object => ({ type: "object", properties, ...more });

const rows: readonly (readonly [id: string, refused: Definition, pointer: string, taken: Definition])[] = [
  ["K-1", { inputSchema: object({ not: {} }) }, "inputSchema/not", { inputSchema: object({}, { a: { not: {} } }) }],
  [
    "K-2",
    { inputSchema: object({ anyOf: [{ required: ["a"] }] }) },
    "inputSchema/anyOf",
    { inputSchema: object({}, { a: { anyOf: [{ type: "string" }] } }) },
  ],
  [
    "K-3",
    { inputSchema: object({}, { a: { type: "array", items: { type: "object", additionalProperties: false } } }) },
    "inputSchema/properties/a/items/additionalProperties",
    { inputSchema: object({ description: "d" }, { additionalProperties: { type: "string", minLength: 1 } }) },
  ],
  [
    "K-4",
    { inputSchema: object({}, { a: { type: ["string", "null"] } }) },
    "inputSchema/properties/a/type",
    { inputSchema: object({}, { type: { type: "string" } }) },
  ],
  [
    "K-5",
    { inputSchema: object({}, { a: { enum: [1, 2] } }) },
    "inputSchema/properties/a/enum",
    { inputSchema: object({}, { a: { enum: ["1"] } }) },
  ],
  ["K-6", { name: "a.b", inputSchema: object({}) }, "name", { name: "a_b-c", inputSchema: object({}) }],
  [
    "K-7",
    { name: "a".repeat(129), inputSchema: object({}) },
    "name",
    { name: "a".repeat(128), inputSchema: object({}) },
  ],
  ["K-8", { name: "a/b", inputSchema: object({}) }, "name", { name: "a.b:c", inputSchema: object({}) }],
  [
    "K-9",
    { inputSchema: object({}, { a: { if: {} } }) },
    "inputSchema/properties/a/if",
    { inputSchema: object({}, { if: { type: "string" } }) },
  ],
  [
    "K-10",
    { inputSchema: object({ $defs: { a: { type: "string", maxLength: 3 } } }) },
    "inputSchema/$defs/a/maxLength",
    { inputSchema: object({}, { maxLength: { type: "number" } }) },
  ],
  [
    "K-11",
    { inputSchema: object({ required: ["days"] }, { day: { type: "string" } }) },
    "inputSchema/required",
    { inputSchema: object({ required: ["required"] }, { required: { type: "string" } }) },
  ],
];

test.each(rows)("%s names what the provider refuses, and nothing else", (id, refused, pointer, taken) => {
  expect(refusalsOf(refused)).toContain(`${id} ${pointer}`);
  expect(refusalsOf(taken).filter((each) => each.startsWith(`${id} `))).toEqual([]);
});

test("each rule of a provider has a test", () => {
  expect(portabilityRules.map(({ id }) => id)).toEqual(rows.map(([id]) => id));
});

test("a keyword is named once for each tool, with the number of its places", () => {
  const inputSchema = object({ additionalProperties: false }, { a: { type: "object", additionalProperties: {} } });
  expect(refusalsOf({ inputSchema })).toEqual(["K-3 inputSchema/additionalProperties"]);
});

test("a definition of plain types is refused by no provider", () => {
  expect(refusalsOf({ inputSchema: object({ required: ["a"] }, { a: { type: "string" } }) })).toEqual([]);
});

test("the page on portability lists all rules as they are", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/reference/portability.md"), "utf8");
  const listed = page.split("\n").filter((line) => line.startsWith("| ["));
  const table = portabilityRules.map((rule) => {
    const [provider = "", demands = ""] = rule.demands.split(/: (?=The )/);
    return `| [${rule.id}](${specOf(rule, latest)}) | ${provider} | ${demands} |`;
  });
  expect(listed).toEqual(table);
});
