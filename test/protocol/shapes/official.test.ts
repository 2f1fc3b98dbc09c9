import { revisions } from "@parlance/mcp/protocol";
import { describe, expect, test } from "vitest";
import { assertOfficial } from "./official.js";

test("an error that answers what could not be read has no id, in every revision", () => {
  for (const { version } of revisions) {
    assertOfficial(version, "server", { jsonrpc: "2.0", error: { code: -32_700, message: "Parse error" } });
  }
});

describe("a message is refused", () => {
  const v2 = { jsonrpc: "2.0" } as const;

  test("that is not one", () => {
    expect(() => assertOfficial("2025-11-25", "client", { id: 1, method: "ping" })).toThrow("/jsonrpc");
  });

  test("whose params are off", () => {
    const message = { ...v2, id: 1, method: "tools/call", params: {} };
    expect(() => assertOfficial("2025-11-25", "client", message)).toThrow("/name: expected a string, got nothing");
  });

  test("that this side does not send", () => {
    const message = { ...v2, id: 1, method: "tools/list" };
    expect(() => assertOfficial("2025-11-25", "server", message)).toThrow("a request that the server may send");
  });

  test("that comes in a batch where there are none", () => {
    const batch = [{ ...v2, id: 1, method: "ping" }];
    assertOfficial("2025-03-26", "client", batch);
    expect(() => assertOfficial("2025-11-25", "client", batch)).toThrow("must be an object");
  });
});
