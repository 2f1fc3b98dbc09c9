import {
  decode,
  ExactNumber,
  encode,
  isNotification,
  isRequest,
  isResponse,
  type Message,
  Problem,
  serverLimits,
} from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { checkMessage } from "../../../packages/mcp/src/jsonrpc/codec/decode.js";
import { failure, notification, request, success } from "../../../packages/mcp/src/jsonrpc/message.js";
import { baseProfile, mcpProfile, type Profile } from "../../../packages/mcp/src/jsonrpc/profile.js";

interface Rejection {
  readonly value: unknown;
  readonly code?: number;
  readonly reason: string;
  readonly pointer: string;
  readonly id?: unknown;
  readonly profile?: Profile;
}

const v2 = { jsonrpc: "2.0" };

const rejections: readonly Rejection[] = [
  { value: undefined, reason: "a message must be an object, got nothing", pointer: "" },
  { value: null, reason: "a message must be an object, got null", pointer: "" },
  { value: 1, reason: "a message must be an object, got a number", pointer: "" },
  { value: "x", reason: "a message must be an object, got a string", pointer: "" },
  { value: [], reason: "a message must be an object, got an array", pointer: "" },
  { value: {}, reason: 'jsonrpc must be "2.0", it is missing', pointer: "/jsonrpc" },
  { value: { id: 1 }, reason: 'jsonrpc must be "2.0", it is missing', pointer: "/jsonrpc", id: 1 },
  { value: { id: 1, method: "m" }, reason: 'jsonrpc must be "2.0", it is missing', pointer: "/jsonrpc", id: 1 },
  { value: { id: 1, result: 1 }, reason: 'jsonrpc must be "2.0", it is missing', pointer: "/jsonrpc", id: 1 },
  {
    value: { jsonrpc: "1.0", id: "a", method: "m" },
    reason: 'jsonrpc must be "2.0", got "1.0"',
    pointer: "/jsonrpc",
    id: "a",
  },
  { value: { jsonrpc: 2, id: 1, method: "m" }, reason: 'jsonrpc must be "2.0", got 2', pointer: "/jsonrpc", id: 1 },
  { value: { jsonrpc: null, method: "m" }, reason: 'jsonrpc must be "2.0", got null', pointer: "/jsonrpc" },
  {
    value: { jsonrpc: "2".repeat(41), method: "m" },
    reason: 'jsonrpc must be "2.0", got a string of 41 characters',
    pointer: "/jsonrpc",
  },
  {
    value: { jsonrpc: "2.0\u202e", method: "m" },
    reason: 'jsonrpc must be "2.0", got "2.0\\u{202e}"',
    pointer: "/jsonrpc",
  },
  { value: { ...v2, id: 1, method: 1 }, reason: "method must be a string, got a number", pointer: "/method", id: 1 },
  { value: { ...v2, id: 1, method: null }, reason: "method must be a string, got null", pointer: "/method", id: 1 },
  {
    value: { ...v2, id: 1, method: "m".repeat(257) },
    reason: "method must be at most 256 characters long, got 257",
    pointer: "/method",
    id: 1,
  },
  {
    value: { ...v2, id: true, method: "m" },
    reason: "id must be a string, a number or null, got true",
    pointer: "/id",
  },
  {
    value: { ...v2, id: {}, method: "m" },
    reason: "id must be a string, a number or null, got an object",
    pointer: "/id",
  },
  {
    value: { ...v2, id: [1], method: "m" },
    reason: "id must be a string, a number or null, got an array",
    pointer: "/id",
  },
  {
    value: { ...v2, id: "x".repeat(257), method: "m" },
    reason: "id must be at most 256 bytes long, got 257",
    pointer: "/id",
  },
  {
    value: { ...v2, id: 1, method: "m", params: "bar" },
    reason: "params must be an object or an array, got a string",
    pointer: "/params",
    id: 1,
  },
  {
    value: { ...v2, id: 1, method: "m", params: null },
    reason: "params must be an object or an array, got null",
    pointer: "/params",
    id: 1,
  },
  {
    value: { ...v2, method: "m", params: 5 },
    reason: "params must be an object or an array, got a number",
    pointer: "/params",
  },
  {
    value: { ...v2, id: 1, method: "rpc.discover" },
    code: -32_601,
    reason: 'method names that begin with rpc. are reserved, got "rpc.discover"',
    pointer: "/method",
    id: 1,
  },
  {
    value: { ...v2, id: 1, method: "m", result: 1 },
    reason: "a message with a method must not have result",
    pointer: "/result",
    id: 1,
  },
  {
    value: { ...v2, id: 1, method: "m", error: {} },
    reason: "a message with a method must not have error",
    pointer: "/error",
    id: 1,
  },
  { value: { ...v2, id: 1 }, reason: "a message must have a method, a result or an error", pointer: "", id: 1 },
  {
    value: { ...v2, id: 1, result: 1, error: {} },
    reason: "a response must not have both result and error",
    pointer: "/error",
    id: 1,
  },
  { value: { ...v2, result: 1 }, reason: "a response must have an id", pointer: "/id" },
  {
    value: { ...v2, id: {}, result: 1 },
    reason: "id must be a string, a number or null, got an object",
    pointer: "/id",
  },
  { value: { ...v2, id: 1, error: null }, reason: "error must be an object, got null", pointer: "/error", id: 1 },
  { value: { ...v2, id: 1, error: [] }, reason: "error must be an object, got an array", pointer: "/error", id: 1 },
  { value: { ...v2, id: 1, error: {} }, reason: "code must be an integer, got nothing", pointer: "/error/code", id: 1 },
  {
    value: { ...v2, id: 1, error: { code: 1.5 } },
    reason: "code must be an integer, got 1.5",
    pointer: "/error/code",
    id: 1,
  },
  {
    value: { ...v2, id: 1, error: { code: "1" } },
    reason: 'code must be an integer, got "1"',
    pointer: "/error/code",
    id: 1,
  },
  {
    value: { ...v2, id: 1, error: { code: 1 } },
    reason: "message must be a string, got nothing",
    pointer: "/error/message",
    id: 1,
  },
  {
    value: { ...v2, id: 1, error: { code: 1, message: 2 } },
    reason: "message must be a string, got a number",
    pointer: "/error/message",
    id: 1,
  },
  {
    value: { ...v2, id: null, method: "m" },
    profile: mcpProfile,
    reason: "id must be a string or an integer, got null",
    pointer: "/id",
  },
  {
    value: { ...v2, id: new ExactNumber("1.5"), method: "m" },
    profile: mcpProfile,
    reason: "id must be a string or an integer, got 1.5",
    pointer: "/id",
  },
  {
    value: { ...v2, id: 1, method: "m", params: [] },
    profile: mcpProfile,
    code: -32_602,
    reason: "params must be an object, got an array",
    pointer: "/params",
    id: 1,
  },
];

describe("checkMessage says why and where", () => {
  test.each(rejections)(
    "$reason ($pointer)",
    ({ value, code = -32_600, reason, pointer, id, profile = baseProfile }) => {
      const problem = checkMessage(value, profile, serverLimits);
      expect(problem).toBeInstanceOf(Problem);
      expect(problem).toMatchObject({ ok: false, code, reason, pointer });
      expect(problem?.id).toEqual(id);
    },
  );
});

describe("checkMessage takes each form", () => {
  const failed = { code: 1, message: "no" };
  test.each<[kind: string, value: Message, profile?: Profile]>([
    ["request", request(1, "m")],
    ["request", request(null, "m", [1])],
    ["request", request(1.5, "m", {})],
    ["request", request(new ExactNumber("1e400"), "m"), mcpProfile],
    ["request", { ...request(1, "m"), unknown: true } as Message],
    ["notification", notification("m")],
    ["notification", notification("", { a: 1 }), mcpProfile],
    ["success", success(1, null)],
    ["success", success(null, 0)],
    ["failure", failure(1, failed)],
    ["failure", failure(null, failed), mcpProfile],
    ["failure", failure(undefined, failed)],
    ["failure", failure("a", { ...failed, data: null })],
  ])("%s: %j", (kind, value, profile = baseProfile) => {
    expect(checkMessage(value, profile, serverLimits)).toBeUndefined();
    expect(isRequest(value)).toBe(kind === "request");
    expect(isNotification(value)).toBe(kind === "notification");
    expect(isResponse(value)).toBe(kind === "success" || kind === "failure");
  });
});

describe("encode and decode", () => {
  test.each<[frame: string, message: Message | readonly Message[]]>([
    ['{"jsonrpc":"2.0","id":1,"method":"m"}', request(1, "m")],
    ['{"jsonrpc":"2.0","id":1e400,"method":"m","params":[1]}', request(new ExactNumber("1e400"), "m", [1])],
    ['{"jsonrpc":"2.0","method":"m","params":{"a":1}}', notification("m", { a: 1 })],
    ['{"jsonrpc":"2.0","id":"a","result":null}', success("a", null)],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}', failure(null, { code: 1, message: "no" })],
    ['[{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","id":2,"result":[]}]', [notification("m"), success(2, [])]],
  ])("%s there and back", (frame, message) => {
    expect(encode(message)).toBe(frame);
    expect(decode(frame)).toEqual(message);
  });

  test("what is no JSON is a parse error, with the parser's own words as detail", () => {
    const problem = decode("{]", baseProfile, serverLimits);
    expect(problem).toMatchObject({ code: -32_700, reason: "a frame must be JSON", pointer: "", id: undefined });
    expect((problem as Problem).detail).toBeTypeOf("string");
  });
});
