import type { RuleCase } from "../rule-case.js";
import { failed, type Talk } from "../talk.js";

const inputSchema = { type: "object" };
const outputSchema = { type: "object", properties: { temp: { type: "number" } }, required: ["temp"] };
const tool = { name: "add", inputSchema };
const hasStructure = ({ version }: Talk): boolean => version >= "2025-06-18";
const ofStateless = (talk: Talk): boolean => talk.isStateless;

/** The request for the list, and a result with one tool: the last two frames but for what follows. */
function listing(talk: Talk, tool: Readonly<Record<string, unknown>>): ReturnType<Talk["opening"]> {
  return [...talk.opening(), talk.list(1), talk.listed(1, [{ name: "add", inputSchema, ...tool }])];
}

/** Transcripts for the rules of this family. */
export const toolsCases: readonly RuleCase[] = [
  {
    rule: "T-1",
    where: hasStructure,
    breaks: (talk) => [
      ...listing(talk, { outputSchema }),
      talk.call(2),
      talk.called(2, { structuredContent: { temp: "hot" } }),
    ],
    found: {
      party: "server",
      pointer: "/result/structuredContent/temp",
      text: '"hot"',
      says: /, says the outputSchema in frame \d+ at \/result\/tools\/0\/outputSchema$/,
    },
    legal: (talk) => [
      ...listing(talk, { outputSchema }),
      talk.call(2),
      talk.called(2, { structuredContent: { temp: 41.5, more: 1 } }),
      talk.call(3),
      talk.called(3, { isError: true, structuredContent: {} }),
    ],
  },
  {
    rule: "T-2",
    why: "without a type",
    breaks: (talk) => listing(talk, { inputSchema: { properties: {} } }),
    found: { party: "server", pointer: "/result/tools/0/inputSchema/type", text: '{"properties":{}}' },
    legal: (talk) => listing(talk, { inputSchema: { type: "object", properties: {} } }),
  },
  {
    rule: "T-2",
    why: "without a schema",
    breaks: (talk) => listing(talk, { inputSchema: undefined }),
    found: {
      party: "server",
      pointer: "/result/tools/0/inputSchema",
      says: "inputSchema must be a JSON Schema, got nothing",
    },
    legal: (talk) => listing(talk, {}),
  },
  {
    rule: "T-3",
    breaks: (talk) => listing(talk, { inputSchema: { type: "object", properties: { a: { type: "strin" } } } }),
    found: { party: "server", pointer: "/result/tools/0/inputSchema/properties/a/type", text: '"strin"' },
    legal: (talk) => listing(talk, { inputSchema: { type: "object", properties: { a: { type: "string" } } } }),
  },
  {
    rule: "T-4",
    where: hasStructure,
    breaks: (talk) => [...listing(talk, { outputSchema }), talk.call(2), talk.called(2)],
    found: { party: "server", pointer: "/result/structuredContent" },
    legal: (talk) => [...listing(talk, { outputSchema }), talk.call(2), talk.called(2, { isError: true })],
  },
  {
    rule: "T-5",
    breaks: (talk) => listing(talk, { name: "add two" }),
    found: { party: "server", pointer: "/result/tools/0/name", text: '"add two"' },
    legal: (talk) => listing(talk, { name: "add-two_2.0" }),
  },
  {
    rule: "T-5",
    why: "for a name that comes twice",
    breaks: (talk) => [...talk.opening(), talk.list(1), talk.listed(1, [tool, tool])],
    found: { party: "server", pointer: "/result/tools/1/name", text: '"add"', says: 'another tool has the name "add"' },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1, [tool, { ...tool, name: "Add" }])],
  },
  {
    rule: "T-6",
    breaks: (talk) => [...listing(talk, {}), talk.call(2, "subtract")],
    found: { party: "client", pointer: "/params/name", text: '"subtract"' },
    legal: (talk) => [...listing(talk, {}), talk.call(2, "add")],
  },
  {
    rule: "T-7",
    breaks: (talk) => [
      ...listing(talk, { inputSchema: { type: "object", required: ["a"] } }),
      talk.request(2, "tools/call", { name: "add", arguments: {} }),
    ],
    found: { party: "client", pointer: "/params/arguments/a", text: "{}" },
    legal: (talk) => [
      ...listing(talk, { inputSchema: { type: "object", required: ["a"] } }),
      talk.request(2, "tools/call", { name: "add", arguments: { a: 1 } }),
    ],
  },
  {
    rule: "T-8",
    where: ofStateless,
    breaks: (talk) =>
      listing(talk, { inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } } }),
    found: { party: "server", pointer: "/result/tools/0/inputSchema/properties/a/x-mcp-header", text: '"A"' },
    legal: (talk) =>
      listing(talk, { inputSchema: { type: "object", properties: { a: { type: "integer", "x-mcp-header": "A" } } } }),
  },
  {
    rule: "T-9",
    breaks: (talk) => [...listing(talk, {}), talk.call(2, "add"), failed(2, -32_603)],
    found: { party: "server", pointer: "/error/code", text: "-32603", says: /^the model does not learn why/ },
    legal: (talk) => [
      ...listing(talk, {}),
      talk.call(2, "add"),
      talk.called(2, { isError: true }),
      talk.call(3, "add"),
      failed(3, 4_711),
      talk.list(4),
      failed(4, -32_603),
    ],
  },
];
