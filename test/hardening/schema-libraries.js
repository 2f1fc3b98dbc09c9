// Schema libraries of the tests. In JavaScript, so that type checking the tests needs none of them.
export { toStandardJsonSchema } from "@valibot/to-json-schema";
export { type as arktype } from "arktype";
export * as valibot from "valibot";
export * as mini from "zod/mini";
export { z as zod3 } from "zod3";
