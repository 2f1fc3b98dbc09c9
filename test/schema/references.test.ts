import { compile, type SchemaError } from "@parlance/mcp/schema";
import { describe, expect, test } from "vitest";

function accepts(schema: object, value: unknown): boolean {
  const checked = compile({ ...schema }).check(value);
  return "ok" in checked && checked.ok;
}

function refusal(schema: object): Pick<SchemaError, "reason" | "message"> {
  try {
    compile({ ...schema });
  } catch (error) {
    return error as SchemaError;
  }
  throw new TypeError("the schema was accepted");
}

const text = { type: "string" };

describe("a reference inside the document", () => {
  test.each([
    ["a pointer", { $ref: "#/$defs/a", $defs: { a: text } }],
    ["a pointer with escapes", { $ref: "#/$defs/a~1b~0c%25%20d", $defs: { "a/b~c% d": text } }],
    ["a pointer into a list", { allOf: [{ $ref: "#/anyOf/0" }], anyOf: [text, true] }],
    ["a pointer to where no keyword is", { $ref: "#/components/a", components: { a: text } }],
    ["a pointer to __proto__", JSON.parse('{"$ref":"#/$defs/__proto__","$defs":{"__proto__":{"type":"string"}}}')],
    ["a chain", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: text } }],
    ["an anchor", { $ref: "#here", $defs: { a: { $anchor: "here", ...text } } }],
    ["a dynamic anchor", { $dynamicRef: "#here", $defs: { a: { $dynamicAnchor: "here", ...text } } }],
    ["both kinds at once", { $ref: "#a", $dynamicRef: "#a", $defs: { a: { $dynamicAnchor: "a", ...text } } }],
    ["an embedded resource", { $id: "https://x.example/root", $ref: "part", $defs: { a: { $id: "part", ...text } } }],
    ["a pointer in an embedded resource", { $ref: "part#/$defs/b", $defs: { a: { $id: "part", $defs: { b: text } } } }],
    [
      "the document by its own name",
      { $id: "https://x.example/r", anyOf: [text, { items: { $ref: "https://x.example/r" }, type: "array" }] },
    ],
  ])("leads there: %s", (_, schema) => {
    expect([accepts(schema, "a"), accepts(schema, 1)]).toEqual([true, false]);
  });

  test("may be recursive, as long as it looks deeper into the value", () => {
    const tree = { type: "object", properties: { children: { items: { $ref: "#" } }, name: text } };
    expect(accepts(tree, { children: [{ children: [{ name: "a" }] }] })).toBe(true);
    expect(accepts(tree, { children: [{ children: [{ name: 1 }] }] })).toBe(false);
  });

  test("names members of the document only, not what every object has", () => {
    expect(refusal({ $ref: "#/$defs/toString", $defs: {} }).reason).toBe("reference");
    expect(refusal({ $ref: "#/toString" }).reason).toBe("reference");
  });
});

describe("a reference that leads nowhere", () => {
  test.each([
    "https://x.example/schema.json",
    "//x.example",
    "other.json#/a",
    "file:///etc/passwd",
    "urn:a:b",
    "https://json-schema.org/draft/2020-12/schema",
    "schema:///x",
  ])("%s is refused by its name and never fetched", ($ref) => {
    expect(refusal({ properties: { a: { $ref } } })).toMatchObject({
      reason: "reference",
      message: `/properties/a/$ref: ${JSON.stringify($ref)} is outside this document, and nothing is fetched: put its schema under "$defs"`,
    });
  });

  test.each(["#/$defs/b", "#b", "#/$defs/a/type/0", "#%", "#/$defs/%zz"])("%s is refused by its name", ($ref) => {
    const { reason, message } = refusal({ $ref, $defs: { a: text } });
    expect([reason, message]).toEqual(["reference", `/$ref: ${JSON.stringify($ref)} does not exist in this document`]);
  });

  test("to something that is no schema is refused", () => {
    expect(refusal({ $ref: "#/title", title: "T" })).toMatchObject({ reason: "malformed" });
  });

  test.each([
    ["itself", { $ref: "#" }],
    [
      "itself, around a corner",
      { $ref: "#/$defs/a", $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } } },
    ],
    ["itself, deeper in", { properties: { a: { anyOf: [text, { $ref: "#/properties/a" }] } } }],
  ])("but back to %s is refused as endless", (_, schema) => {
    expect(refusal(schema).reason).toBe("endless");
  });
});

describe("a name in the document", () => {
  test("may be given once", () => {
    const twice = { a: { $anchor: "n" }, b: { $anchor: "n" } };
    expect(refusal({ $defs: twice }).message).toBe('/$defs/b: the anchor "n" is used twice');
    expect(refusal({ $defs: { a: { $id: "n" }, b: { $id: "n" } } }).message).toBe('/$defs/b/$id: "n" is used twice');
  });

  test("must be a URI of reasonable length", () => {
    expect(refusal({ $id: "https://[" }).reason).toBe("malformed");
    expect(refusal({ $id: "a".repeat(3_000) }).reason).toBe("malformed");
  });

  test("that a dynamic reference could find in two places is refused, not guessed", () => {
    const schema = {
      $dynamicRef: "#n",
      $defs: { a: { $id: "a", $dynamicAnchor: "n" }, b: { $dynamicAnchor: "n", ...text } },
    };
    expect(refusal(schema).reason).toBe("unsupported");
  });
});

describe("the dialect", () => {
  const draft07 = "http://json-schema.org/draft-07/schema#";

  test.each(["https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema#"])(
    "%s is spoken",
    ($schema) => {
      expect(accepts({ $schema, ...text }, "a")).toBe(true);
    },
  );

  test.each([
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/schema#",
    "https://x.example/mine",
  ])("%s is refused by its name", ($schema) => {
    expect(refusal({ $schema })).toMatchObject({
      reason: "dialect",
      message: `/$schema: expected JSON Schema 2020-12 or draft-07, got ${JSON.stringify($schema)}: convert the schema, or leave "$schema" out`,
    });
  });

  test("may not change inside the document", () => {
    const $defs = { a: { $id: "a", $schema: draft07 } };
    expect(refusal({ $schema: "https://json-schema.org/draft/2020-12/schema", $defs }).reason).toBe("dialect");
    expect(refusal({ $defs: { a: { $schema: "https://x.example/mine" } } }).reason).toBe("dialect");
  });

  test("draft-07 ignores what stands beside a reference, and what came later", () => {
    const $schema = draft07;
    const beside = { $ref: "#/definitions/a", maxLength: 1, definitions: { a: text } };
    expect([accepts({ $schema, ...beside }, "ab"), accepts(beside, "ab")]).toEqual([true, false]);
    expect(accepts({ $schema, prefixItems: [text], dependentRequired: { a: ["b"] } }, [1])).toBe(true);
  });

  test.each([[{ $schema: draft07 }], [{}]])("draft-07's own forms mean what they mean there: %j", (named) => {
    const tuple = { ...named, items: [text], additionalItems: { type: "number" } };
    expect([accepts(tuple, ["a", 1]), accepts(tuple, [1]), accepts(tuple, ["a", "b"])]).toEqual([true, false, false]);
    const dependencies = { ...named, dependencies: { a: ["b"], c: { required: ["d"] } } };
    expect([{ a: 1 }, { c: 1 }, { a: 1, b: 1, c: 1, d: 1 }].map((value) => accepts(dependencies, value))).toEqual([
      false,
      false,
      true,
    ]);
    const anchored = { ...named, allOf: [{ $ref: "#n" }], definitions: { a: { $id: "#n", ...text } } };
    expect([accepts(anchored, "a"), accepts(anchored, 1)]).toEqual([true, false]);
  });

  test("2020-12 by its name does not take the forms of draft-07", () => {
    const $schema = "https://json-schema.org/draft/2020-12/schema";
    expect(refusal({ $schema, items: [text] }).message).toContain('a tuple is "prefixItems"');
    expect(accepts({ $schema, dependencies: { a: ["b"] } }, { a: 1 })).toBe(true);
  });
});
