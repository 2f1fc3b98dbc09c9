import { connect } from "@parlance/mcp/client";
import { compile, type InferInput, type InferOutput, type Schema, SchemaError } from "@parlance/mcp/schema";
import { createServer, elicitForm } from "@parlance/mcp/server";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { arktype, mini, toStandardJsonSchema, valibot as v, zod3 } from "../schema-libraries.js";

const info = { name: "shop", version: "1.0.0" };

/** The listed tool with that schema, and its results for some calls. */
async function served(inputSchema: unknown, ...calls: object[]): Promise<{ listed: unknown; answers: unknown[] }> {
  const server = createServer(info);
  server.tool("echo", { inputSchema: inputSchema as Record<string, unknown> }, (args) => JSON.stringify(args));
  await using client = await connect(server);
  const [tool] = await client.tools.list().all();
  const { $schema, ...listed } = tool?.inputSchema ?? {};
  const answers: unknown[] = [];
  for (const args of calls) {
    const { content, isError } = await client.tools.call("echo", { ...args });
    const text = content[0]?.type === "text" ? content[0].text : "";
    answers.push(isError === true ? text : JSON.parse(text));
  }
  return { listed, answers };
}

function refusal(inputSchema: unknown): string {
  const server = createServer(info);
  try {
    server.tool("echo", { inputSchema: inputSchema as Record<string, unknown> }, () => "");
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError);
    return (error as Error).message;
  }
  throw new Error("it was taken");
}

/** `{ a: number, b?: string = "x" }`, as each library writes it. */
const fields: Readonly<Record<string, unknown>> = {
  "fields of zod 4": { a: z.number(), b: z.string().default("x") },
  "fields of zod 4 mini": { a: mini.number(), b: mini._default(mini.string(), "x") },
  "an object of zod 4 mini": mini.object({ a: mini.number(), b: mini._default(mini.string(), "x") }),
  "fields of zod 3": { a: zod3.number(), b: zod3.string().default("x") },
  "an object of zod 3": zod3.object({ a: zod3.number(), b: zod3.string().default("x") }),
  "fields of valibot": { a: v.number(), b: v.optional(v.string(), "x") },
  "an object of valibot": v.object({ a: v.number(), b: v.optional(v.string(), "x") }),
  "an object of valibot, wrapped": toStandardJsonSchema(v.object({ a: v.number(), b: v.optional(v.string(), "x") })),
  "an object of arktype": arktype({ a: "number", b: "string = 'x'" }),
};

describe("B4: schemas of every library are taken as their users write them", () => {
  test.each(Object.keys(fields))("%s", async (name) => {
    const { listed, answers } = await served(fields[name], { a: 1 }, { a: 1, b: "y" }, { a: "one" });
    expect(listed).toMatchObject({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "string" } },
      required: ["a"],
    });
    expect(answers.slice(0, 2)).toEqual([
      { a: 1, b: "x" },
      { a: 1, b: "y" },
    ]);
    expect(answers[2]).toMatch(/^Invalid arguments for tool echo:\n\/a: /);
  });

  test.each<[string, () => Record<string, Schema>]>([
    ["zod 4", () => ({ a: z.string(), b: z.string().optional().describe("B") })],
    ["zod 3", () => ({ a: zod3.string(), b: zod3.string().optional().describe("B") })],
  ])("optional fields of %s are fields of a tool, a prompt and a form", async (_library, shape) => {
    const server = createServer(info);
    server.tool("t", { inputSchema: shape() }, () => "");
    server.prompt("p", { arguments: shape() as Record<string, never> }, () => "");
    server.tool("ask", {}, async (_args, ctx) => (await ctx.elicit("?", shape() as unknown as Schema)).action);
    let form: unknown;
    const elicitation = ({ requestedSchema }: { requestedSchema?: unknown }): { action: "decline" } => {
      form = requestedSchema;
      return { action: "decline" };
    };
    await using client = await connect(server, { handlers: { elicitation } });
    const [tool] = await client.tools.list().all();
    const properties = { a: { type: "string" }, b: { type: "string", description: "B" } };
    expect(tool?.inputSchema).toMatchObject({ properties, required: ["a"] });
    expect(JSON.stringify(tool?.inputSchema)).not.toContain("anyOf");
    const [prompt] = await client.prompts.list().all();
    expect(prompt?.arguments).toEqual([
      { name: "a", required: true },
      { name: "b", description: "B" },
    ]);
    await client.tools.call("ask");
    expect(form).toMatchObject({ properties, required: ["a"] });
  });

  test("what is no field is left out, and every field's fault has its place", async () => {
    const { answers } = await served(
      { a: z.number(), b: z.object({ c: z.string() }) },
      { a: 1, b: { c: "x" }, d: 2 },
      { b: { c: 1 } },
    );
    expect(answers[0]).toEqual({ a: 1, b: { c: "x" } });
    expect(answers[1]).toMatch(/^Invalid arguments for tool echo:\n\/a: .*\n\/b\/c: /);
  });

  test("a field that refers to itself is listed with references that lead to it", async () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node);
      },
    });
    const { listed, answers } = await served(
      { root: node },
      { root: { name: "a", children: [{ name: "b", children: [] }] } },
    );
    const { check } = compile(listed as Schema);
    expect(check({ root: { name: "a", children: [{ name: "b", children: [] }] } })).toMatchObject({ ok: true });
    expect(check({ root: { name: "a", children: [{ name: 1 }] } })).toMatchObject({ ok: false });
    expect(answers).toEqual([{ root: { name: "a", children: [{ name: "b", children: [] }] } }]);
  });

  test("fields that are checked later are waited for", async () => {
    const known = z.string().refine(async (name) => name === "ann");
    const { answers } = await served({ name: known }, { name: "ann" }, { name: "bob" });
    expect(answers[0]).toEqual({ name: "ann" });
    expect(answers[1]).toContain("/name: ");
  });

  test("a field that coerces is required all the same", async () => {
    const { listed } = await served({ at: z.coerce.string(), any: z.number().optional() });
    expect(listed).toMatchObject({ required: ["at"] });
  });

  test("a union of objects is listed as an object", async () => {
    const union = z.union([z.object({ a: z.number() }), z.object({ b: z.string() })]);
    const { listed, answers } = await served(union, { b: "x" });
    expect(listed).toMatchObject({ type: "object", anyOf: [{ type: "object" }, { type: "object" }] });
    expect(answers).toEqual([{ b: "x" }]);
  });

  test("fields do for results, prompts and forms", async () => {
    const server = createServer(info);
    server.tool("sum", { inputSchema: { a: z.number() }, outputSchema: { sum: z.number() } }, ({ a }) => ({
      sum: a + 1,
    }));
    server.prompt(
      "review",
      { arguments: { code: z.string().describe("The code"), tone: z.string().optional() } },
      (args) => {
        expectTypeOf(args).toEqualTypeOf<{ code: string; tone?: string | undefined }>();
        return `Review ${args.code}`;
      },
    );
    await using client = await connect(server);
    expect((await client.tools.call("sum", { a: 1 })).structuredContent).toEqual({ sum: 2 });
    expect((await client.prompts.list().all())[0]?.arguments).toEqual([
      { name: "code", description: "The code", required: true },
      { name: "tone" },
    ]);
    expect(elicitForm("Who?", { name: z.string() }).params).toMatchObject({
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
  });
});

test("B4: an empty object for inputSchema is a shape without fields, as in the official SDK", async () => {
  const server = createServer({ name: "s", version: "1" });
  server.tool("now", { inputSchema: {} }, () => "it is noon");
  await using client = await connect(server);
  expect((await client.tools.list().all())[0]?.inputSchema).toEqual({ type: "object", properties: {} });
  for (const args of [undefined, {}, { more: 1 }])
    expect((await client.tools.call("now", args)).content).toEqual([{ type: "text", text: "it is noon" }]);
});

describe("B4: a schema that cannot be served is refused with the tool's name and a remedy", () => {
  test("what is no object", () => {
    expect(refusal(z.number())).toBe(
      'The tool echo: inputSchema: expected "type": "object" at the root, got "type": "number": write { type: "object", properties: { name: { type: "string" } } }, or an object schema of a library',
    );
    expect(refusal("object")).toContain(
      "The tool echo: inputSchema: expected a Standard Schema, fields of them or a JSON Schema",
    );
    expect(refusal({ a: "number" })).toContain('got no type: write { type: "object", properties: {');
  });

  test("a library that neither describes its schemas nor has a package known here", () => {
    const schema = { "~standard": { version: 1, vendor: "acme", validate: (value: unknown) => ({ value }) } };
    expect(refusal(schema)).toContain("The tool echo: inputSchema: this version of acme does not describe its schemas");
  });

  test("zod before 3.24, which speaks no Standard Schema", () => {
    const { "~standard": _, ...rest } = zod3.number();
    const old = { ...rest, _def: { typeName: "ZodNumber" } };
    expect(refusal(old)).toContain("update to zod 4");
    expect(refusal({ a: old })).toContain("The tool echo: inputSchema: this version of zod");
  });

  test("a package that is not installed is named", () => {
    // A vendor's schema that is not what its package expects stands for one: the package is there in the tests.
    const strange = { "~standard": { version: 1, vendor: "zod", validate: (value: unknown) => ({ value }) } };
    expect(refusal(strange)).toContain("does not describe its schemas as JSON Schema");
    const broken = { ...strange, "~standard": { ...strange["~standard"], vendor: "valibot" } };
    expect(refusal(broken)).toContain("The tool echo: inputSchema: valibot cannot express the input of this schema");
  });

  test("the wrong kind of schema does not compile", () => {
    const server = createServer(info);
    // @ts-expect-error the arguments of a tool are an object
    expect(() => server.tool("a", { inputSchema: z.number() }, () => "")).toThrow("The tool a");
    // @ts-expect-error nor an array
    expect(() => server.tool("a", { inputSchema: z.array(z.number()) }, () => "")).toThrow("The tool a");
    // @ts-expect-error a schema is not its name
    expect(() => server.tool("a", { inputSchema: "object" }, () => "")).toThrow("The tool a");
  });
});

test("B4: fields have the types of their schemas", () => {
  const shape = { a: z.number(), b: z.string().default("x"), c: z.string().optional() };
  expectTypeOf<InferInput<typeof shape>>().toEqualTypeOf<{
    a: number;
    b?: string | undefined;
    c?: string | undefined;
  }>();
  expectTypeOf<InferOutput<typeof shape>>().toEqualTypeOf<{ a: number; b: string; c?: string | undefined }>();
  createServer(info).tool("t", { inputSchema: shape }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ a: number; b: string; c?: string | undefined }>();
    return "";
  });
});
