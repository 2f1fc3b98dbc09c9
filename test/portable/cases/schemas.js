import { compile } from "@parlance/mcp/schema";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import * as z from "zod";
import * as z3 from "zod3";
import { equal, match } from "../check.js";

/** @import { Schema } from "@parlance/mcp/server" */
/** @import { Case } from "../run.js" */

/** @type {Readonly<Record<string, { readonly schema: Schema, readonly needs?: "loading packages by name" }>>} */
const libraries = {
  "JSON Schema": {
    schema: {
      type: "object",
      properties: { city: { type: "string", minLength: 1 }, days: { type: "integer" } },
      required: ["city"],
    },
  },
  zod: { schema: z.object({ city: z.string().min(1), days: z.int().optional() }) },
  "the fields of zod": { schema: { city: z.string().min(1), days: z.int().optional() } },
  arktype: { schema: type({ city: "string > 0", "days?": "number.integer" }) },
  "valibot, converted": {
    schema: toStandardJsonSchema(
      v.object({ city: v.pipe(v.string(), v.minLength(1)), days: v.optional(v.pipe(v.number(), v.integer())) }),
    ),
  },
  valibot: {
    schema: v.object({ city: v.pipe(v.string(), v.minLength(1)), days: v.optional(v.pipe(v.number(), v.integer())) }),
    needs: "loading packages by name",
  },
  "zod 3": {
    schema: z3.object({ city: z3.string().min(1), days: z3.number().int().optional() }),
    needs: "loading packages by name",
  },
};

/** @type {readonly Case[]} */
export const schemas = [
  ...Object.entries(libraries).map(([library, { schema, needs }]) => ({
    name: `schemas: ${library}`,
    needs,
    async run() {
      const { json, check } = compile(schema);
      match(json, { type: "object", properties: { city: { type: "string", minLength: 1 } }, required: ["city"] });
      match(await check({ city: "Lisbon", days: 3 }), { ok: true });
      match(await check({ city: "" }), { ok: false });
      match(await check({ city: "Lisbon", days: "three" }), { ok: false });
    },
  })),
  {
    name: "schemas: references, formats and patterns of JSON Schema",
    async run() {
      const { check } = compile({
        type: "object",
        properties: {
          tree: { $ref: "#/$defs/tree" },
          at: { type: "string", format: "date-time" },
          plate: { type: "string", pattern: "^\\p{Lu}{2}-[0-9]+$" },
        },
        $defs: { tree: { type: "array", items: { $ref: "#/$defs/tree" } } },
      });
      match(await check({ tree: [[], [[]]], at: "2026-07-28T12:00:00Z", plate: "ÄB-7" }), { ok: true });
      match(await check({ tree: [[], [1]] }), { ok: false, errors: [{ path: "/tree/1/0" }] });
      match(await check({ plate: "äb-7" }), { ok: false });
    },
  },
  {
    name: "schemas: defaults of a schema are in the arguments",
    async run() {
      const { check } = compile(z.object({ loud: z.boolean().default(false) }));
      const checked = await check({});
      equal("value" in checked && checked.value, { loud: false });
    },
  },
];
