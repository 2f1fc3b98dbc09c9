import { isDeepStrictEqual } from "node:util";
import {
  answerer,
  decode,
  encode,
  isNotification,
  isRequest,
  type Message,
  Problem,
  serverLimits,
} from "@parlance/mcp/jsonrpc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkMessage } from "../../packages/mcp/src/jsonrpc/codec/decode.js";
import { failure } from "../../packages/mcp/src/jsonrpc/message.js";
import { baseProfile, mcpBatchProfile, mcpProfile } from "../../packages/mcp/src/jsonrpc/profile.js";
import { runs } from "../testing/forms.js";
import { limits, messages, nearMessages, strings, values } from "./arbitraries.js";
import { judge } from "./reference.js";

const profiles = fc.constantFrom(baseProfile, mcpProfile, mcpBatchProfile);
const pieces = fc.oneof(
  strings,
  fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "\\", " ", "\ufeff", "1", "-", "1e400", "null", "tru", "{}"),
  fc.constantFrom('{"jsonrpc":"2.0"', '"id":1', '"id":"\\u0000"', '"method":"x"', '"result":1', '"params":[', "[[[[[["),
  messages.map((message) => encode(message)),
  fc
    .tuple(messages, fc.nat(), fc.nat(40))
    .map(([message, from, length]) => encode(message).slice(from % 60, (from % 60) + length)),
);
function formOf(message: Message): string {
  if (isRequest(message)) return "request";
  if (isNotification(message)) return "notification";
  return "result" in message ? "success" : "failure";
}

const texts = fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join(""));

test("any text within any limits is a message, a batch or a problem: nothing is thrown", () => {
  fc.assert(
    fc.property(texts, profiles, limits, (text, profile, bounds) => {
      const decoded = decode(text, profile, bounds);
      for (const each of Array.isArray(decoded) ? decoded : [decoded]) {
        expect(each instanceof Problem || checkMessage(each, profile, bounds) === undefined).toBe(true);
      }
    }),
    { numRuns: runs(3_000) },
  );
});

test("any text is answered by one response, by an array of them, or by nothing", async () => {
  await fc.assert(
    fc.asyncProperty(texts, limits, async (text, bounds) => {
      const answer = await answerer((method, params) => (method === "" ? Promise.reject(params) : params), {
        limits: bounds,
      })(text);
      if (answer === undefined) return;
      const parsed: unknown = JSON.parse(answer);
      if (Array.isArray(parsed)) expect(parsed).not.toEqual([]);
      for (const each of Array.isArray(parsed) ? parsed : [parsed]) {
        expect(["success", "failure"]).toContain(judge(each, baseProfile, serverLimits).kind);
      }
    }),
    { numRuns: runs(2_000) },
  );
});

describe("what is encoded", () => {
  test("is one line, and decodes to the same message", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const text = encode(message);
        expect(text).not.toMatch(/[\n\r]/);
        expect(isDeepStrictEqual(decode(text), message), text).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("as a batch is one line, and decodes to the same batch", () => {
    fc.assert(
      fc.property(fc.array(messages, { minLength: 1, maxLength: 8 }), (batch) => {
        const text = encode(batch);
        expect(text).not.toMatch(/[\n\r]/);
        expect(isDeepStrictEqual(decode(text), batch), text).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  test("is the same message again when it is encoded again", () => {
    fc.assert(
      fc.property(messages, (message) => encode(decode(encode(message)) as typeof message) === encode(message)),
    );
  });

  test("of a failure without an id has null for one, or none, as the profile says", () => {
    fc.assert(
      fc.property(strings, values, (message, data) => {
        const error = { code: -32_700, message, data };
        for (const id of [undefined, null]) {
          const unread = failure(id, error);
          expect(isDeepStrictEqual(decode(encode(unread)), failure(null, error))).toBe(true);
          expect(isDeepStrictEqual(decode(encode(unread, mcpProfile), mcpProfile), failure(undefined, error))).toBe(
            true,
          );
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

describe.each([
  { name: "base", profile: baseProfile },
  { name: "MCP", profile: mcpProfile },
])("in the $name profile", ({ profile }) => {
  const bounds = { ...serverLimits, idBytes: 8, methodLength: 8 };

  test("a value is valid exactly if it breaks no rule, and the rule that is named is one it breaks", () => {
    fc.assert(
      fc.property(nearMessages, (value) => {
        const problem = checkMessage(value, profile, bounds);
        const { kind, faults, id } = judge(value, profile, bounds);
        if (problem === undefined) {
          expect([formOf(value as Message), faults]).toEqual([kind, []]);
          return;
        }
        expect(faults.map(({ code, pointer }) => `${code} ${pointer}`)).toContain(`${problem.code} ${problem.pointer}`);
        expect(problem.id).toEqual(id);
      }),
      { numRuns: runs(5_000) },
    );
  });

  test("validating never alters the value", () => {
    fc.assert(
      fc.property(nearMessages, (value) => {
        const before = JSON.stringify(value);
        checkMessage(value, profile, bounds);
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: runs(500) },
    );
  });
});

test("params, results and data named like parts of Object change no object", () => {
  fc.assert(
    fc.property(messages, (message) => {
      decode(encode(message));
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    }),
    { numRuns: runs(200) },
  );
});
