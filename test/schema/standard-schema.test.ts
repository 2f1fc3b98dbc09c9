import { compile, type Schema, SchemaError } from "@parlance/mcp/schema";
import { describe, expect, test } from "vitest";
import * as z from "zod";

/** A schema of a library of our own, with as much of Standard Schema as a test gives it. */
function schemaOf(props: object, schema: object = {}): Schema {
  return Object.assign(schema, { "~standard": { version: 1, vendor: "tiny", ...props } }) as unknown as Schema;
}

const description = { input: () => ({ type: "object" }), output: () => ({ type: "object" }) };

describe("a zod schema", () => {
  const search = z.object({ query: z.string(), limit: z.number().int().min(1).default(10) });

  test("goes over the wire as the JSON Schema of what it takes in", () => {
    const { json } = compile(search, { root: "object" });
    expect(json).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer", default: 10 } },
      required: ["query"],
    });
  });

  test("describes what it gives out on the side of outputs", () => {
    expect(compile(search, { side: "output" }).json).toMatchObject({ required: ["query", "limit"] });
  });

  test("fills in defaults", () => {
    expect(compile(search).check({ query: "git" })).toEqual({ ok: true, value: { query: "git", limit: 10 } });
  });

  test("transforms what it takes in, and says so where its output has no JSON Schema", () => {
    const schema = z.object({ at: z.string().transform((text) => text.length) });
    expect(compile(schema).check({ at: "four" })).toEqual({ ok: true, value: { at: 4 } });
    expect(() => compile(schema, { side: "output" })).toThrow(
      expect.objectContaining({
        reason: "not-representable",
        message: expect.stringMatching(/^zod cannot express the output .*: use a type that JSON has, such as a string/),
      }),
    );
  });

  test("names the place of every fault with a JSON pointer", () => {
    const schema = z.object({ list: z.array(z.object({ "a/b": z.number() })), name: z.string() });
    expect(compile(schema).check({ list: [{ "a/b": 1 }, { "a/b": "x" }] })).toEqual({
      ok: false,
      errors: [
        { path: "/list/1/a~1b", message: "Invalid input: expected number, received string" },
        { path: "/name", message: "Invalid input: expected string, received undefined" },
      ],
    });
  });

  test("that waits gives a promise, and one that does not gives none", async () => {
    const schema = z.object({ id: z.string().refine(async (id) => id !== "taken", "is taken") });
    expect(compile(search).check({ query: "git" })).not.toBeInstanceOf(Promise);
    await expect(compile(schema).check({ id: "taken" })).resolves.toEqual({
      ok: false,
      errors: [{ path: "/id", message: "is taken" }],
    });
  });

  test("that is recursive compiles", () => {
    const tree = z.object({
      get children() {
        return z.array(tree);
      },
    });
    const { json, check } = compile(tree, { root: "object" });
    expect(JSON.stringify(json)).toContain('"$ref"');
    expect(check({ children: [{ children: [] }] })).toMatchObject({ ok: true });
  });

  test("must be an object at the root if the protocol requires one", () => {
    expect(() => compile(z.string(), { root: "object" })).toThrow(
      'expected "type": "object" at the root, got "type": "string"',
    );
    expect(() => compile(z.union([z.object({}), z.string()]), { root: "object" })).toThrow(
      'got "anyOf" without a type',
    );
    expect(compile(z.string(), { side: "output" }).check("text")).toEqual({ ok: true, value: "text" });
  });
});

describe("any Standard Schema", () => {
  test("without a JSON Schema side is refused, with the library's name and the remedy", () => {
    const refused = expect.objectContaining({
      name: "SchemaError",
      reason: "no-json-schema",
      message: expect.stringMatching(/tiny does not describe its schemas as JSON Schema.*: update it, wrap the schema/),
    });
    expect(() => compile(schemaOf({ validate: (value: unknown) => ({ value }) }))).toThrow(refused);
  });

  test("that only describes is checked by its JSON Schema", () => {
    const { check } = compile(schemaOf({ jsonSchema: description }));
    expect([check({}), check(1)]).toMatchObject([{ ok: true }, { ok: false }]);
  });

  test("may be a function, and finds itself as `this`", () => {
    const schema = schemaOf(
      {
        jsonSchema: description,
        validate(this: { readonly vendor: string }, value: unknown) {
          return this.vendor === "tiny" ? { value } : { issues: [{ message: "lost itself" }] };
        },
      },
      () => undefined,
    );
    expect(compile(schema).check({})).toEqual({ ok: true, value: {} });
  });

  test("may give the path of an issue as keys, as segments, or not at all", () => {
    const issues = [{ message: "a", path: ["x", { key: 0 }] }, { message: "b", path: [Symbol("s")] }, { message: "c" }];
    const { check } = compile(schemaOf({ validate: () => ({ issues }), jsonSchema: description }));
    expect(check({})).toMatchObject({ errors: [{ path: "/x/0" }, { path: "/Symbol(s)" }, { path: "" }] });
  });

  test("with a thousand issues answers with a few, and says that there are more", () => {
    const issues = Array.from({ length: 1_000 }, (_, index) => ({ message: "no", path: [index] }));
    const { check } = compile(schemaOf({ validate: () => ({ issues }), jsonSchema: description }), {
      limits: { errors: 2 },
    });
    expect(check({})).toEqual({
      ok: false,
      errors: [
        { path: "/0", message: "no" },
        { path: "/1", message: "no" },
        { path: "", message: "expected no faults, got more than 2" },
      ],
    });
  });

  test("that throws is a bug of its author and is not hidden", () => {
    const { check } = compile(
      schemaOf({
        validate: () => {
          throw new TypeError("bug");
        },
        jsonSchema: description,
      }),
    );
    expect(() => check({})).toThrow("bug");
  });
});

test("what is no schema at all is refused by its kind", () => {
  // As a program without types may call it.
  for (const value of [null, "string", 5, [], () => undefined] as never[]) {
    expect(() => compile(value)).toThrow(SchemaError);
  }
});
