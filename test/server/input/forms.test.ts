import { revisionOf, revisions } from "@parlance/mcp/protocol";
import { type Context, createServer, elicitForm, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { hasSchemas, problems } from "../../protocol/revisions/published.js";
import { type Frame, parse, success } from "../../testing/frames.js";
import { openAsked } from "./open.js";

const withForms = revisions.filter(({ facts }) => facts.elicitation !== "none");
const modes = { elicitation: { form: {}, url: {} } };

function asking(ask: (context: Context) => Promise<unknown>): Server {
  const server = createServer({ name: "asking", version: "1" });
  server.tool("ask", {}, async (_args, context) => JSON.stringify(await ask(context)));
  return server;
}

/** The request that a client of a version receives, or the error in place of it. */
async function asked(version: string, ask: (context: Context) => Promise<unknown>, capabilities: object = modes) {
  const isStateless = revisionOf(version)?.era === "stateless";
  await using client = await openAsked(asking(ask), { version, isStateless }, capabilities);
  const frame = parse(await client.ask("tools/call", { name: "ask" }));
  const { result, id, method, params, error } = frame;
  if (method !== undefined) await client.talk.ask(success(id ?? "", { action: "cancel" }));
  const [question] = Object.values((result?.inputRequests ?? {}) as Record<string, Frame>);
  return { params: method === undefined ? question?.params : params, error };
}

function formWith(field: object): (context: Context) => Promise<unknown> {
  return (context) => context.elicit("Which?", { type: "object", properties: { field } });
}

async function fieldIn(version: string, field: object): Promise<unknown> {
  const { params } = await asked(version, formWith(field));
  return (params as { requestedSchema: { properties: { field: unknown } } }).requestedSchema.properties.field;
}

const words = { title: "Title", description: "Description" };
const titled = [
  { const: "r", title: "Red" },
  { const: "g", title: "Green" },
];

/** A field as an author writes it, as the newest revisions have it, and as the first forms have it. */
const fields: readonly (readonly [string, object, object, object])[] = [
  ...["email", "uri", "date", "date-time"].map((format): [string, object, object, object] => {
    const text = { type: "string", ...words, minLength: 1, maxLength: 9, format };
    return [`text, an ${format}`, { ...text, default: "x" }, { ...text, default: "x" }, text];
  }),
  ...["number", "integer"].map((type): [string, object, object, object] => {
    const number = { type, ...words, minimum: 1, maximum: 9 };
    return [type, { ...number, default: 2 }, { ...number, default: 2 }, number];
  }),
  ["yes or no", ...same({ type: "boolean", ...words, default: true })],
  [
    "one of several",
    { type: "string", ...words, enum: ["r", "g"], default: "g" },
    { type: "string", ...words, enum: ["r", "g"], default: "g" },
    { type: "string", ...words, enum: ["r", "g"] },
  ],
  [
    "one of several with titles",
    { type: "string", ...words, oneOf: titled, default: "g" },
    { type: "string", ...words, oneOf: titled, default: "g" },
    { type: "string", ...words, enum: ["r", "g"], enumNames: ["Red", "Green"] },
  ],
  [
    "one of several with names",
    { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    { type: "string", oneOf: titled },
    { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
  ],
  [
    "one of several of which some have no title",
    { type: "string", oneOf: [titled[0], { const: "b" }] },
    { type: "string", oneOf: [titled[0], { const: "b", title: "b" }] },
    { type: "string", enum: ["r", "b"], enumNames: ["Red", "b"] },
  ],
];

function same(field: object): [object, object, object] {
  return [field, field, field];
}

const severals: readonly (readonly [string, object, object])[] = [
  [
    "any of several",
    { type: "array", ...words, items: { enum: ["r", "g"] }, minItems: 1, maxItems: 2, default: ["r"] },
    { type: "array", ...words, items: { type: "string", enum: ["r", "g"] }, minItems: 1, maxItems: 2, default: ["r"] },
  ],
  [
    "any of several with titles",
    { type: "array", items: { anyOf: [{ type: "string", ...titled[0] }, { const: "b" }] } },
    { type: "array", items: { anyOf: [titled[0], { const: "b", title: "b" }] } },
  ],
];

describe.each(withForms.map(({ version, facts }) => ({ version, facts })))(
  "a form of $version",
  ({ version, facts }) => {
    const isFirst = facts.elicitation === "form";

    test.each(fields)("asks for %s", async (_name, field, newest, first) => {
      expect(await fieldIn(version, field)).toEqual(isFirst ? first : newest);
    });

    test.each(severals)(
      "asks for %s where it can, and is an error that says so where not",
      async (_name, field, newest) => {
        const { params, error } = await asked(version, formWith(field));
        if (isFirst) {
          expect(params).toBeUndefined();
          expect(error).toMatchObject({ code: -32_600, message: expect.stringContaining('"field"') as string });
          expect(error?.message).toContain(version);
          expect(error?.message).toContain("ask for one choice, or for text");
        } else expect(params).toMatchObject({ requestedSchema: { properties: { field: newest } } });
      },
    );

    test
      .skipIf(!hasSchemas)
      .each([...fields, ...(isFirst ? [] : severals)].map(([name, field]): [string, object] => [name, field]))(
      "that asks for %s is one of the published schema",
      async (_name, field) => {
        const { params } = await asked(version, formWith(field));
        expect(
          problems(version, "ElicitRequest", { jsonrpc: "2.0", id: 1, method: "elicitation/create", params }),
        ).toEqual([]);
      },
    );

    test("is no page, even for a client that says it could show one", async () => {
      const { params, error } = await asked(version, (context) =>
        context.elicitUrl("Log in", "https://example.com/login"),
      );
      if (isFirst) expect(error).toMatchObject({ data: { requiredCapabilities: { elicitation: { url: {} } } } });
      else expect(params).toMatchObject({ mode: "url" });
    });

    test("is there for a client that has declared nothing of modes", async () => {
      const { params } = await asked(version, formWith({ type: "boolean" }), { elicitation: {} });
      expect(params).toMatchObject({ message: "Which?" });
    });
  },
);

describe("a field with a default, which the form does not require, is in the content whatever the client fills in", () => {
  const json = { type: "object", properties: { n: { type: "integer", default: 1 }, m: { type: "integer" } } };

  test.each<[string, Parameters<typeof elicitForm>[1]]>([
    ["JSON Schema that requires it", { ...json, required: ["n"] }],
    ["JSON Schema that does not", json],
    ["zod", z.object({ n: z.int().default(1), m: z.int().optional() })],
  ])("by %s", async (_kind, schema) => {
    const { params, read } = elicitForm("How many?", schema);
    expect(params.requestedSchema).not.toHaveProperty("required");
    expect(await read({ action: "accept" }, "")).toEqual({ action: "accept", content: { n: 1 } });
    expect(await read({ action: "accept", content: { n: 5, m: 2 } }, "")).toEqual({
      action: "accept",
      content: { n: 5, m: 2 },
    });
  });
});

test("a handler can ask otherwise where a form cannot be asked for", async () => {
  const { params } = await asked("2025-06-18", async (context) => {
    const several = z.object({ tags: z.array(z.enum(["a", "b"])) });
    const one = z.object({ tag: z.enum(["a", "b"]) });
    return context.elicit("Which?", several).catch(() => context.elicit("Which one?", one));
  });
  expect(params).toMatchObject({ message: "Which one?" });
});

test.each<[string, object]>([
  ["a choice that is no text", { type: "string", enum: ["a", 1] }],
  ["a choice without a value", { type: "string", oneOf: [{ title: "A" }] }],
  ["a choice of patterns", { type: "string", oneOf: [{ pattern: "a" }] }],
  ["choices that are no texts", { type: "array", items: { enum: [1] } }],
  ["choices without values", { type: "array", items: { anyOf: [{ type: "string" }] } }],
])("a form cannot ask for %s", (_name, field) => {
  expect(() => elicitForm("What?", { type: "object", properties: { field } })).toThrow(
    /^A form cannot ask for field: /,
  );
});
