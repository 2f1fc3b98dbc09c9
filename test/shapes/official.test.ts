import { join } from "node:path";
import { revisions } from "@parlance/mcp";
import { describe, expect, test } from "vitest";
import { transcripts } from "../transcripts/read.js";
import { assertOfficial, officialConversation } from "./official.js";

const golden = transcripts(join(import.meta.dirname, "../transcripts"));

describe("every message of a golden conversation", () => {
  test.each(golden)("$name in $version is one of its revision", ({ version, lines }) => {
    const hear = officialConversation(version);
    for (const line of lines) if (line.kind !== "do") hear(line.kind, line.frame);
  });
});

test("an error that answers what could not be read has no id, in every revision", () => {
  for (const { version } of revisions) {
    assertOfficial(version, "server", { jsonrpc: "2.0", error: { code: -32_700, message: "Parse error" } });
  }
});

describe("a message is refused", () => {
  const v2 = { jsonrpc: "2.0" } as const;

  test("that is none", () => {
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

  test("that answers what nobody asked", () => {
    const hear = officialConversation("2025-11-25");
    hear("client", { ...v2, id: 1, method: "ping" });
    hear("server", { ...v2, id: 1, result: {} });
    expect(() => hear("server", { ...v2, id: "1", result: {} })).toThrow("without the method");
  });

  test("whose result is that of another method", () => {
    const hear = officialConversation("2025-11-25");
    hear("client", { ...v2, id: 1, method: "tools/list" });
    expect(() => hear("server", { ...v2, id: 1, result: { prompts: [] } })).toThrow("/tools: expected an array");
  });

  test("by the revision that its request names", () => {
    const hear = officialConversation("2025-11-25");
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    hear("client", { ...v2, id: 1, method: "tools/list", params: { _meta: meta } });
    expect(() => hear("server", { ...v2, id: 1, result: { tools: [] } })).toThrow("/resultType");
  });
});
