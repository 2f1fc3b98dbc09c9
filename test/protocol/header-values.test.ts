import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeHeaderValue, encodeHeaderValue } from "../../packages/mcp/src/protocol/http-headers.js";

describe("a value of a header", () => {
  test.each([
    ["us-west1", "us-west1"],
    ["", ""],
    ["a b", "a b"],
    ["=?base64?", "=?base64?"],
    ["YQ==?=", "YQ==?="],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="],
    ["a\tb", "=?base64?YQli?="],
    ["\u007f", "=?base64?fw==?="],
    ["é", "=?base64?w6k=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
    ["\ufeffa", "=?base64?77u/YQ==?="],
  ])("of %j is %j", (text, value) => {
    expect(encodeHeaderValue(text)).toBe(value);
    expect(decodeHeaderValue(value)).toBe(text);
  });

  test.each(["=?BASE64?YQ==?=", "=?base64?YQ==", "YQ==?=", "=?base64?=", "=?utf-8?YQ==?="])(
    "%j is what it is: it has not both marks",
    (value) => {
      expect(decodeHeaderValue(value)).toBe(value);
    },
  );

  test.each([
    ["no padding", "=?base64?YQ?="],
    ["too much padding", "=?base64?YQ===?="],
    ["a space", "=?base64?Y Q==?="],
    ["the alphabet of URLs", "=?base64?_-8=?="],
    ["bits behind the last byte", "=?base64?YR==?="],
    ["no base64 at all", "=?base64?!!!!?="],
    ["no UTF-8", "=?base64?/w==?="],
    ["half a surrogate pair", "=?base64?7aCA?="],
  ])("stands for nothing with %s", (_fault, value) => {
    expect(decodeHeaderValue(value)).toBeUndefined();
  });

  test("gives back every text, and a header can hold it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const value = encodeHeaderValue(text);
        expect(new Headers([["mcp-name", value]]).get("mcp-name")).toBe(value);
        expect(decodeHeaderValue(value)).toBe(text);
      }),
    );
  });
});
