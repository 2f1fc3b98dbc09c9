import { codes, explainCode } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import type { CodeExplanation } from "../../packages/mcp/src/jsonrpc/errors.js";

describe("explainCode gives the range and the name", () => {
  test.each<[code: number, range: CodeExplanation["range"], name: string]>([
    [-32_700, "standard", "Parse error"],
    [-32_600, "standard", "Invalid Request"],
    [-32_601, "standard", "Method not found"],
    [-32_602, "standard", "Invalid params"],
    [-32_603, "standard", "Internal error"],
    [-32_769, "application", "Application error"],
    [-32_768, "reserved", "Reserved"],
    [-32_604, "reserved", "Reserved"],
    [-32_100, "reserved", "Reserved"],
    [-32_099, "server error", "Server error"],
    [-32_000, "server error", "Server error"],
    [-31_999, "application", "Application error"],
    [0, "application", "Application error"],
    [42_900, "application", "Too many requests"],
  ])("%i: %s, %s", (code, range, name) => {
    expect(explainCode(code)).toEqual({ code, range, name, meaning: expect.stringMatching(/^[A-Z].*[^.]$/) });
  });

  test("every code that the engine sends has a name of its own", () => {
    const names = Object.values(codes).map((code) => explainCode(code).name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).not.toContain("Application error");
  });
});
