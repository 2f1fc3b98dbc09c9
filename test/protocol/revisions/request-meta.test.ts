import { describe, expect, test } from "vitest";
import {
  readMeta,
  readProgressToken,
  readProtocolVersion,
  readRequestMeta,
} from "../../../packages/mcp/src/protocol/meta.js";

const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";
const required = { [version]: "2026-07-28", [capabilities]: {} };

describe("the _meta of a request", () => {
  test.each([
    [undefined],
    [[]],
    [[{ _meta: {} }]],
    [{}],
    [{ _meta: null }],
    [{ _meta: "text" }],
    [{ _meta: [required] }],
  ])("is not there in %j", (params) => {
    expect(readMeta(params)).toBeUndefined();
    expect(readProgressToken(params)).toBeUndefined();
    expect(readProtocolVersion(params)).toBeUndefined();
    expect(readRequestMeta(params)).toEqual({ faults: [{ path: "/_meta", message: "must be an object" }] });
  });

  test.each([
    ["abc", "abc"],
    ["", ""],
    [0, 0],
    [-1, -1],
    [1.5, undefined],
    [2 ** 53, undefined],
    [null, undefined],
    [true, undefined],
  ])("has a progress token in %j: %j", (progressToken, token) => {
    expect(readProgressToken({ _meta: { progressToken } })).toBe(token);
  });

  test("says which revision the request speaks", () => {
    expect(readProtocolVersion({ _meta: required })).toBe("2026-07-28");
    expect(readProtocolVersion({ _meta: { [version]: 20_260_728 } })).toBeUndefined();
    expect(readProtocolVersion({ _meta: { progressToken: 1 } })).toBeUndefined();
  });

  test.each([
    { what: "what is required", members: {} },
    {
      what: "what is known",
      members: {
        "io.modelcontextprotocol/clientInfo": { name: "c", version: "1", title: "C" },
        "io.modelcontextprotocol/logLevel": "debug",
        progressToken: 1,
      },
    },
    { what: "keys of others", members: { "example.com/a": null, traceparent: "not a trace" } },
    {
      what: "capabilities, known or not",
      members: { [capabilities]: { elicitation: { url: {} }, extensions: {}, later: true } },
    },
  ])("is complete with $what", ({ members }) => {
    const meta = { ...required, ...members };
    expect(readRequestMeta({ _meta: meta })).toEqual({ meta });
  });

  test.each([
    [{ [version]: undefined }, "/_meta/io.modelcontextprotocol~1protocolVersion", "must be a string, got nothing"],
    [{ [version]: 2026 }, "/_meta/io.modelcontextprotocol~1protocolVersion", "must be a string, got a number"],
    [
      { [capabilities]: [] },
      "/_meta/io.modelcontextprotocol~1clientCapabilities",
      "must be an object of objects, got an array",
    ],
    [
      { [capabilities]: { sampling: true } },
      "/_meta/io.modelcontextprotocol~1clientCapabilities",
      "must be an object of objects, got an object",
    ],
    [
      { "io.modelcontextprotocol/clientInfo": { name: "c" } },
      "/_meta/io.modelcontextprotocol~1clientInfo",
      "must be an object with name and version, got an object",
    ],
    [
      { "io.modelcontextprotocol/logLevel": "loud" },
      "/_meta/io.modelcontextprotocol~1logLevel",
      "must be a logging level, got a string",
    ],
    [{ progressToken: null }, "/_meta/progressToken", "must be a string or an integer, got null"],
  ])("is refused with %j", (members, path, message) => {
    expect(readRequestMeta({ _meta: { ...required, ...members } })).toEqual({ faults: [{ path, message }] });
  });

  test("names every fault at once", () => {
    const reading = readRequestMeta({ _meta: {} });
    expect("faults" in reading && reading.faults.map(({ path }) => path)).toEqual([
      "/_meta/io.modelcontextprotocol~1protocolVersion",
      "/_meta/io.modelcontextprotocol~1clientCapabilities",
    ]);
  });
});
