import { compile, type InferInput, type InferOutput } from "@parlance/mcp/schema";
import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { MaybePromise } from "../../packages/mcp/src/base/maybe-promise.js";
import type { Checked } from "../../packages/mcp/src/schema/json-schema-validator.js";

// The claims about types are judged where the tests are type-checked; here they only run.

test("a Standard Schema knows the types of what it takes in and gives out", () => {
  const search = z.object({ query: z.string(), limit: z.number().default(10), at: z.string().transform(Number) });
  interface Output {
    query: string;
    limit: number;
    at: number;
  }
  expectTypeOf<InferInput<typeof search>>().toEqualTypeOf<{ query: string; limit?: number | undefined; at: string }>();
  expectTypeOf<InferOutput<typeof search>>().branded.toEqualTypeOf<Output>();
  expectTypeOf(compile(search).check({})).branded.toEqualTypeOf<MaybePromise<Checked<Output>>>();
});

test("JSON Schema knows only that there are members", () => {
  const plain = { type: "object", properties: { a: { type: "number" } } } as const;
  expectTypeOf<InferInput<typeof plain>>().toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf(compile(plain).check({})).toEqualTypeOf<MaybePromise<Checked<Record<string, unknown>>>>();
});

test("what is no schema does not pass the compiler", () => {
  // @ts-expect-error a schema is an object
  expect(() => compile("object")).toThrow();
  // @ts-expect-error there are two sides
  compile({}, { side: "both" });
});
