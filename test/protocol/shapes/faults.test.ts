import { checkShape, revisionOf } from "@parlance/mcp/protocol";
import { describe, expect, test } from "vitest";
import type { MessagePart } from "../../../packages/mcp/src/protocol/revisions/shapes.js";
import type { ShapeFault } from "../../../packages/mcp/src/protocol/shapes/shape-fault.js";

// The messages for typical mistakes: the place, the expected value and the found one.

interface Mistake {
  readonly name: string;
  readonly version?: string;
  readonly part: MessagePart;
  readonly value: unknown;
  readonly faults: readonly (readonly [pointer: string, expected: string, received: string])[];
}

const toolCall: MessagePart = { of: "params", method: "tools/call", sender: "client" };
const toolResult: MessagePart = { of: "result", method: "tools/call", sender: "client" };
const toolList: MessagePart = { of: "result", method: "tools/list", sender: "client" };
const initialize: MessagePart = { of: "params", method: "initialize", sender: "client" };
const progress: MessagePart = { of: "notification", method: "notifications/progress", sender: "server" };
const elicit: MessagePart = { of: "params", method: "elicitation/create", sender: "server" };
const elicited: MessagePart = { of: "result", method: "elicitation/create", sender: "server" };
const sample: MessagePart = { of: "params", method: "sampling/createMessage", sender: "server" };

const mistakes: readonly Mistake[] = [
  {
    name: "no params",
    part: toolCall,
    value: undefined,
    faults: [["", "an object", "nothing"]],
  },
  {
    name: "params by position",
    part: toolCall,
    value: ["search", {}],
    faults: [["", "an object", "an array"]],
  },
  {
    name: "arguments as JSON text",
    part: toolCall,
    value: { name: "search", arguments: '{"query":"a"}' },
    faults: [["/arguments", "an object", '"{\\"query\\":\\"a\\"}"']],
  },
  {
    name: "several at once",
    part: initialize,
    value: { protocolVersion: 1, clientInfo: { name: "c" }, capabilities: { roots: true, sampling: {} } },
    faults: [
      ["/protocolVersion", "a string", "1"],
      ["/capabilities/roots", "an object", "true"],
      ["/clientInfo/version", "a string", "nothing"],
    ],
  },
  {
    name: "text where content goes",
    part: toolResult,
    value: { content: "done" },
    faults: [["/content", "an array", '"done"']],
  },
  {
    name: "neither content nor a task",
    part: toolResult,
    value: { result: "done" },
    faults: [["", "an object with content, or with task", "an object"]],
  },
  {
    name: "a block of an unknown type",
    part: toolResult,
    value: {
      content: [
        { type: "text", text: "a" },
        { type: "video", url: "x" },
      ],
    },
    faults: [["/content/1/type", '"text", "image", "audio", "resource_link" or "resource"', '"video"']],
  },
  {
    name: "a block of a type that came later",
    version: "2024-11-05",
    part: toolResult,
    value: { content: [{ type: "audio", data: "AA==", mimeType: "audio/wav" }] },
    faults: [["/content/0/type", '"text", "image" or "resource"', '"audio"']],
  },
  {
    name: "a block without its type",
    part: toolResult,
    value: { content: [{ text: "a" }] },
    faults: [["/content/0/type", '"text", "image", "audio", "resource_link" or "resource"', "nothing"]],
  },
  {
    name: "an image as a data URI",
    part: toolResult,
    value: { content: [{ type: "image", data: "data:image/png;base64,AA==", mimeType: "image/png" }] },
    faults: [["/content/0/data", "base64", '"data:image/png;base64,AA=="']],
  },
  {
    name: "a resource with neither text nor blob",
    part: toolResult,
    value: { content: [{ type: "resource", resource: { uri: "file:///a" } }] },
    faults: [["/content/0/resource", "an object with text or blob", "an object"]],
  },
  {
    name: "a resource whose text is none",
    part: toolResult,
    value: { content: [{ type: "resource", resource: { uri: "a b", text: null } }] },
    faults: [
      ["/content/0/resource/uri", "a URI", '"a b"'],
      ["/content/0/resource/text", "a string", "null"],
    ],
  },
  {
    name: "structured output that is an array, before it could be one",
    part: toolResult,
    value: { content: [], structuredContent: [1] },
    faults: [["/structuredContent", "an object", "an array"]],
  },
  {
    name: "a tool without a schema, another with a schema of strings",
    part: toolList,
    value: { tools: [{ name: "a" }, { name: "b", inputSchema: { type: "string" } }] },
    faults: [
      ["/tools/0/inputSchema", "an object", "nothing"],
      ["/tools/1/inputSchema/type", '"object"', '"string"'],
    ],
  },
  {
    name: "a cursor of null",
    part: toolList,
    value: { tools: [], nextCursor: null },
    faults: [["/nextCursor", "a string", "null"]],
  },
  {
    name: "a list for another method",
    part: toolList,
    value: { prompts: [] },
    faults: [["/tools", "an array", "nothing"]],
  },
  {
    name: "no resultType, ttlMs and cacheScope where they are required",
    version: "2026-07-28",
    part: toolList,
    value: { tools: [] },
    faults: [
      ["/resultType", '"complete"', "nothing"],
      ["/ttlMs", "an integer ≥ 0", "nothing"],
      ["/cacheScope", '"public" or "private"', "nothing"],
    ],
  },
  {
    name: "an unknown word for a resultType",
    version: "2026-07-28",
    part: toolResult,
    value: { resultType: "task", taskId: "1" },
    faults: [["/resultType", '"complete" or "input_required"', '"task"']],
  },
  {
    name: "a result that asks for nothing",
    version: "2026-07-28",
    part: toolResult,
    value: { resultType: "input_required" },
    faults: [["", "an object with inputRequests, requestState or both", "an object"]],
  },
  {
    name: "a question that is off, inside of a result",
    version: "2026-07-28",
    part: toolResult,
    value: {
      resultType: "input_required",
      inputRequests: { "a/b": { method: "elicitation/create", params: { message: "?", requestedSchema: {} } } },
    },
    faults: [
      ["/inputRequests/a~1b/params/requestedSchema/type", '"object"', "nothing"],
      ["/inputRequests/a~1b/params/requestedSchema/properties", "an object", "nothing"],
    ],
  },
  {
    name: "an answer that is off, inside of params",
    version: "2026-07-28",
    part: toolCall,
    value: {
      name: "a",
      inputResponses: { a: { action: "yes" }, b: {} },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
    faults: [
      ["/inputResponses/a/action", '"accept", "decline" or "cancel"', '"yes"'],
      ["/inputResponses/b", "the result of elicitation/create, sampling/createMessage or roots/list", "an object"],
    ],
  },
  {
    name: "a request that does not say what it speaks",
    version: "2026-07-28",
    part: { of: "params", method: "tools/list", sender: "client" },
    value: { _meta: { progressToken: 1.5 } },
    faults: [
      ["/_meta/io.modelcontextprotocol~1protocolVersion", "a string", "nothing"],
      ["/_meta/io.modelcontextprotocol~1clientCapabilities", "an object", "nothing"],
      ["/_meta/progressToken", "a string or an integer", "1.5"],
    ],
  },
  {
    name: "progress in per cent, without a token",
    part: progress,
    value: { progress: "50%" },
    faults: [
      ["/progressToken", "a string or an integer", "nothing"],
      ["/progress", "a number", '"50%"'],
    ],
  },
  {
    name: "a form whose fields are nested",
    part: elicit,
    value: { message: "?", requestedSchema: { type: "object", properties: { a: { type: "object" } } } },
    faults: [["/requestedSchema/properties/a/type", '"string", "number", "integer", "boolean" or "array"', '"object"']],
  },
  {
    name: "a choice of numbers",
    part: elicit,
    value: { message: "?", requestedSchema: { type: "object", properties: { a: { type: "string", enum: ["x", 1] } } } },
    faults: [["/requestedSchema/properties/a/enum/1", "a string", "1"]],
  },
  {
    name: "an unknown mode",
    part: elicit,
    value: { mode: "popup", message: "?" },
    faults: [["/mode", '"form" or "url"', '"popup"']],
  },
  {
    name: "a filled-in form with an object in it",
    part: elicited,
    value: { action: "accept", content: { a: 1.5, b: { c: 1 } } },
    faults: [["/content/b", "a string, a number, a boolean or an array of strings", "an object"]],
  },
  {
    name: "a priority of more than everything",
    part: sample,
    value: { messages: [], maxTokens: 0.5, modelPreferences: { costPriority: 2 } },
    faults: [
      ["/maxTokens", "an integer", "0.5"],
      ["/modelPreferences/costPriority", "a number ≥ 0 and ≤ 1", "2"],
    ],
  },
  {
    name: "too many completions",
    part: { of: "result", method: "completion/complete", sender: "client" },
    value: { completion: { values: Array.from({ length: 101 }, () => "a") } },
    faults: [["/completion/values", "at most 100 elements", "101 elements"]],
  },
  {
    name: "a long string, which is cut short",
    part: { of: "params", method: "resources/read", sender: "client" },
    value: { uri: " ".repeat(100) },
    faults: [["/uri", "a URI", `"${" ".repeat(40)}" and 60 characters more`]],
  },
  {
    name: "what could hide something from who reads it",
    part: { of: "params", method: "logging/setLevel", sender: "client" },
    value: { level: "info\u202e\u001b[2J" },
    faults: [
      [
        "/level",
        '"debug", "info", "notice", "warning", "error", "critical", "alert" or "emergency"',
        '"info\\u{202e}\\u001b[2J"',
      ],
    ],
  },
  {
    name: "an error as a string",
    part: { of: "error" },
    value: "not found",
    faults: [["", "an object", '"not found"']],
  },
  {
    name: "an error with a name for a code",
    part: { of: "error" },
    value: { code: "ENOENT" },
    faults: [
      ["/code", "an integer", '"ENOENT"'],
      ["/message", "a string", "nothing"],
    ],
  },
  {
    name: "an error whose data says nothing of the versions",
    version: "2026-07-28",
    part: { of: "error" },
    value: { code: -32_022, message: "Unsupported protocol version", data: { supported: "2025-11-25" } },
    faults: [
      ["/data/supported", "an array", '"2025-11-25"'],
      ["/data/requested", "a string", "nothing"],
    ],
  },
];

describe("a fault names the place, what is expected and what was received", () => {
  test.each(mistakes)("$name", ({ version = "2025-11-25", part, value, faults }) => {
    const found = check(version, part, value);
    expect(found.map(({ pointer, expected, received }) => [pointer, expected, received])).toEqual(faults);
  });
});

function check(version: string, part: MessagePart, value: unknown): readonly ShapeFault[] {
  const revision = revisionOf(version);
  if (revision === undefined) throw new Error(`there is no revision ${version}`);
  return checkShape(revision, part, value);
}
