import * as z from "zod";

/**
 * The tools' arguments for libraries that know zod alone.
 * @type {Readonly<Record<string, z.ZodObject>>}
 */
export const zodSchemas = {
  add: z.object({ a: z.number(), b: z.number() }),
  points: z.object({ points: z.array(z.number()) }),
  echo: z.object({ text: z.string() }),
};
