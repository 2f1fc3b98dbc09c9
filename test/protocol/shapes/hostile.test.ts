import { latestHandshake } from "@parlance/mcp";
import { checkShape, revisions } from "@parlance/mcp/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessagePart } from "../../../packages/mcp/src/protocol/revisions/shapes.js";
import { inForm, runs } from "../../testing/forms.js";
import { partsOf } from "./oracle.js";

const toolList: MessagePart = { of: "result", method: "tools/list", sender: "client" };
const toolResult: MessagePart = { of: "result", method: "tools/call", sender: "client" };

describe("whatever a peer sends", () => {
  test("is checked without a throw, in every revision", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        for (const revision of revisions) for (const part of partsOf(revision)) checkShape(revision, part, value);
      }),
      { numRuns: runs(20) },
    );
  });

  test("may be nested as deep as JSON can be", () => {
    const deep: unknown = JSON.parse(`${'{"a":['.repeat(2_000)}${"]}".repeat(2_000)}`);
    for (const revision of revisions) {
      for (const part of partsOf(revision)) {
        for (const name of ["_meta", "content", "tools", "capabilities", "inputResponses"]) {
          checkShape(revision, part, { [name]: deep });
        }
      }
    }
    expect(checkShape(latestHandshake, toolResult, { content: [], structuredContent: deep })).toEqual([]);
  });

  test("is not told a hundred faults and one", () => {
    const wrong = Array.from({ length: 100_000 }, () => 1);
    expect(checkShape(latestHandshake, toolList, { tools: wrong })).toHaveLength(100);
    expect(
      checkShape(latestHandshake, toolResult, { content: [{ type: "resource_link", icons: wrong }] }),
    ).toHaveLength(100);
  });

  test("has only the members that are its own", () => {
    const tool: unknown = JSON.parse('{"tools":[{"name":"a","inputSchema":{"__proto__":{"type":"object"}}}]}');
    expect(checkShape(latestHandshake, toolList, tool)).toEqual([
      { pointer: "/tools/0/inputSchema/type", expected: '"object"', received: "nothing" },
    ]);
    const heir = Object.create({ content: [] }) as unknown;
    expect(checkShape(latestHandshake, toolResult, heir)).toHaveLength(1);
  });

  test("may be a string of millions, of whatever characters", () => {
    const long = inForm({ long: 3_000_000, short: 600_000 });
    for (const text of ["a", "%", "%41", "/", "[", "{", "{a", "{a}", "a:", "A", "=", "@", "::"].map((one) =>
      one.repeat(long / one.length),
    )) {
      for (const uri of [text, `x:${text}`, `x://${text}`, `x://[${text}`, `${text}:`]) {
        checkShape(latestHandshake, { of: "params", method: "resources/read", sender: "client" }, { uri });
        const ref = { type: "ref/resource", uri };
        checkShape(latestHandshake, { of: "params", method: "completion/complete", sender: "client" }, { ref });
      }
      const block = { type: "image", data: text, mimeType: "" };
      checkShape(latestHandshake, toolResult, { content: [block] });
    }
  });
});
