import fc from "fast-check";
import { numberLiterals } from "./arbitraries.js";

/** A JSON text, and the parts of which it was put together. */
export type Written = WrittenScalar | WrittenArray | WrittenObject;

interface WrittenScalar {
  readonly kind: "scalar";
  readonly text: string;
}

interface WrittenArray {
  readonly kind: "array";
  readonly text: string;
  readonly items: readonly Written[];
}

interface WrittenObject {
  readonly kind: "object";
  readonly text: string;
  readonly members: readonly WrittenMember[];
}

interface WrittenMember {
  readonly key: string;
  readonly value: Written;
}

const spaces = fc.constantFrom("", "", "", " ", "\n", "\r\n", "\t", "   ");

/** Characters that a scanner could take for structure, whole and escaped. */
const stringLiterals: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        '\\"',
        "\\\\",
        "\\/",
        "\\n",
        "\\u0022",
        "\\u005c",
        "\\u005B",
        "\\ud800",
      ),
      fc.constantFrom("id", "a", "é", "漢", "😀", "\u2028", "\ufeff", " ", "\ud800"),
    ),
    { maxLength: 6 },
  )
  .map((parts) => `"${parts.join("")}"`);

const keyLiterals = fc.oneof(
  stringLiterals,
  fc.constantFrom('"id"', '"\\u0069d"', '"__proto__"', '"method"', '"Id"', '""'),
);

const scalars: fc.Arbitrary<Written> = fc
  .oneof(stringLiterals, numberLiterals, fc.constantFrom("true", "false", "null"))
  .map((text) => ({ kind: "scalar", text }));

const trees = fc.letrec<{ value: Written; array: WrittenArray; object: WrittenObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 6, depthSize: "medium", withCrossShrink: true }, scalars, tie("array"), tie("object")),
  array: fc
    .tuple(spaces, fc.array(fc.tuple(spaces, tie("value"), spaces), { maxLength: 5 }))
    .map(([inside, items]) => ({
      kind: "array",
      text: `[${inside}${items.map(([before, { text }, behind]) => before + text + behind).join(",")}]`,
      items: items.map(([, item]) => item),
    })),
  object: fc
    .tuple(spaces, fc.array(fc.tuple(spaces, keyLiterals, spaces, spaces, tie("value"), spaces), { maxLength: 5 }))
    .map(([inside, members]) => ({
      kind: "object",
      text: `{${inside}${members
        .map(([before, key, ahead, past, { text }, behind]) => `${before}${key}${ahead}:${past}${text}${behind}`)
        .join(",")}}`,
      members: members.map(([, key, , , value]) => ({ key: JSON.parse(key) as string, value })),
    })),
}));

/** Texts with white space wherever it may stand, and any spelling of numbers, strings and keys. */
export const written: fc.Arbitrary<Written> = trees.value;
export const writtenArrays: fc.Arbitrary<WrittenArray> = trees.array;
export const writtenObjects: fc.Arbitrary<WrittenObject> = trees.object;

/** The measures that limits bound. In a text every member counts, in a value that was parsed a repeated key counts once. */
export interface Extent {
  /** Levels of arrays and objects. */
  readonly depth: number;
  readonly nodes: number;
  /** Members of the object that has most. */
  readonly keys: number;
}

export function extentOf(tree: Written): Extent {
  if (tree.kind === "scalar") return { depth: 0, nodes: 1, keys: 0 };
  return tree.kind === "array"
    ? around(tree.items.map(extentOf), 0)
    : around(
        tree.members.map(({ value }) => extentOf(value)),
        tree.members.length,
      );
}

export function extentOfValue(value: unknown): Extent {
  if (typeof value !== "object" || value === null) return { depth: 0, nodes: 1, keys: 0 };
  const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  return around(Object.values(value).map(extentOfValue), keys);
}

function around(inner: readonly Extent[], keys: number): Extent {
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    nodes: 1 + inner.reduce((sum, { nodes }) => sum + nodes, 0),
    keys: Math.max(keys, ...inner.map((extent) => extent.keys)),
  };
}
