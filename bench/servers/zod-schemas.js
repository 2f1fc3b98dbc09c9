import * as z from "zod";

const numbers = z.object({ a: z.number(), b: z.number() });

/**
 * The tools' arguments for libraries that know zod alone.
 * @type {Readonly<Record<string, z.ZodObject>>}
 */
export const zodSchemas = {
  add: numbers,
  "add-and-tell": numbers,
  points: z.object({ points: z.array(z.number()) }),
  echo: z.object({ text: z.string() }),
};
