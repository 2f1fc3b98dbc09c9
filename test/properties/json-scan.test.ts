import { isDeepStrictEqual } from "node:util";
import { literalOf, nodeAt, scanJson } from "@parlance/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonNode } from "../../packages/wire/src/json/json-node.js";
import { childOf, jsonValue, pointerAt, rangeOf } from "../../packages/wire/src/json/json-node.js";
import { runs } from "../testing/forms.js";
import { written, writtenObjects } from "./json-texts.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** The value of bytes by the parser of the platform; undefined where it refuses them. */
function parsed(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(decoder.decode(bytes)) as unknown };
  } catch {
    return undefined; // The parser has no other way to say no.
  }
}

/** The tree of a text that is sound. */
function treeOf(bytes: Uint8Array): JsonNode {
  const scan = scanJson(bytes);
  if (!scan.ok) throw new Error(scan.fault.says);
  return scan.root;
}

interface Named {
  readonly pointer: string;
  readonly node: JsonNode;
}

/** Every value, and its pointer; of members with the same name the last one alone, which is the one that a pointer names. */
function* valuesOf(node: JsonNode, pointer = ""): Iterable<Named> {
  yield { pointer, node };
  const names =
    node.kind === "object"
      ? new Set(node.members.map(({ key }) => key))
      : node.kind === "array"
        ? node.elements.keys()
        : [];
  for (const name of names) {
    const child = childOf(node, String(name));
    const token = String(name).replaceAll("~", "~0").replaceAll("/", "~1");
    if (child !== undefined) yield* valuesOf(child, `${pointer}/${token}`);
  }
}

function repeatsNames(root: JsonNode): boolean {
  return [...valuesOf(root)].some(
    ({ node }) => node.kind === "object" && new Set(node.members.map(({ key }) => key)).size < node.members.length,
  );
}

describe("a text", () => {
  test("is read as the platform reads it, duplicates, escapes and all", () => {
    fc.assert(
      fc.property(written, ({ text }) => {
        const bytes = bytesOf(text);
        expect(isDeepStrictEqual(jsonValue(treeOf(bytes), bytes), parsed(bytes)?.value), text).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
  });

  test("is taken exactly if the platform takes it, whatever is done to its bytes", () => {
    const change = fc.record({ at: fc.nat(), byte: fc.nat(255), kind: fc.constantFrom("put", "set", "drop", "cut") });
    fc.assert(
      fc.property(written, fc.array(change, { minLength: 1, maxLength: 3 }), ({ text }, changes) => {
        let bytes = [...bytesOf(text)];
        for (const { at, byte, kind } of changes) {
          const place = at % (bytes.length + 1);
          if (kind === "cut") bytes = bytes.slice(0, place);
          else bytes.splice(place, kind === "put" ? 0 : 1, ...(kind === "drop" ? [] : [byte]));
        }
        const changed = Uint8Array.from(bytes);
        const scan = scanJson(changed);
        const expected = parsed(changed);
        expect(scan.ok, decoder.decode(changed)).toBe(expected !== undefined);
        if (scan.ok) expect(isDeepStrictEqual(jsonValue(scan.root, changed), expected?.value)).toBe(true);
        else expect(scan.fault.at).toBeLessThanOrEqual(changed.length);
      }),
      { numRuns: runs(10_000) },
    );
  });

  test("that is incomplete is distinguished from an invalid one, at every offset", () => {
    fc.assert(
      fc.property(writtenObjects, fc.nat(), ({ text }, at) => {
        const bytes = bytesOf(text);
        const { start, end } = treeOf(bytes);
        const length = start + 1 + (at % (end - start - 1));
        const scan = scanJson(bytes.subarray(0, length));
        expect(scan, `${length} bytes of ${text}`).toMatchObject({ ok: false, fault: { cut: true, at: length } });
      }),
      { numRuns: runs(3_000) },
    );
  });

  test("may be a thousand levels deep, and one that is deeper is refused", () => {
    const nested = (levels: number): Uint8Array => bytesOf("[".repeat(levels) + "]".repeat(levels));
    expect(scanJson(nested(1_000)).ok).toBe(true);
    expect(scanJson(nested(1_001))).toMatchObject({ ok: false, fault: { at: 1_000, cut: false } });
    expect(scanJson(bytesOf('{"a":'.repeat(1_000_000)))).toMatchObject({ ok: false, fault: { cut: false } });
  });
});

describe("a place", () => {
  test("holds the literal of its value", () => {
    fc.assert(
      fc.property(written, ({ text }) => {
        const bytes = bytesOf(text);
        for (const { pointer, node } of valuesOf(treeOf(bytes))) {
          const value: unknown = JSON.parse(literalOf(node, bytes));
          expect(isDeepStrictEqual(value, jsonValue(node, bytes)), `${pointer} of ${text}`).toBe(true);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  test("is found by its pointer, and its pointer by its first byte", () => {
    fc.assert(
      fc.property(written, ({ text }) => {
        const bytes = bytesOf(text);
        const root = treeOf(bytes);
        for (const { pointer, node } of valuesOf(root)) {
          expect(nodeAt(root, pointer), `${pointer} of ${text}`).toBe(node);
          expect(rangeOf(root, pointer)).toEqual([node.start, node.end]);
          expect(pointerAt(root, node.start), `${pointer} of ${text}`).toBe(pointer);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  test("is named by each of its bytes, and by no byte outside of the text", () => {
    fc.assert(
      fc.property(written, ({ text }) => {
        const bytes = bytesOf(text);
        const root = treeOf(bytes);
        fc.pre(!repeatsNames(root)); // A byte of a member that does not count leads to the one that does.
        for (let offset = 0; offset < bytes.length; offset += 1) {
          const pointer = pointerAt(root, offset);
          const isInside = offset >= root.start && offset < root.end;
          expect(pointer !== undefined, `byte ${offset} of ${text}`).toBe(isInside);
          if (pointer !== undefined) expect(nodeAt(root, pointer), `${pointer} of ${text}`).toBeDefined();
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  test("that is not there is seen at what should have it", () => {
    const root = treeOf(bytesOf('{"a":{"b":1}}'));
    expect(rangeOf(root, "/a/c/d")).toEqual([5, 12]);
    expect(rangeOf(root, "/x")).toEqual([0, 13]);
  });
});
