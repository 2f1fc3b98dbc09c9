import { isObject } from "../base/json.js";

/** Describes schemas of a library that does not describe them itself, with a package that can. */
export interface Converter {
  /** What is missing, and what to do about it, where the package is not installed. */
  readonly remedy: string;
  /** The JSON Schema. Undefined where the package is not installed. @throws what the package throws */
  describe(schema: unknown, side: "input" | "output"): unknown;
}

/** A package, its function, and how that is called. */
interface Row {
  readonly applies: (schema: unknown) => boolean;
  readonly specifier: string;
  readonly name: string;
  readonly options: (side: "input" | "output") => object;
  readonly remedy: string;
}

const rows: Readonly<Record<string, readonly Row[]>> = {
  valibot: [
    {
      applies: () => true,
      specifier: "@valibot/to-json-schema",
      name: "toJsonSchema",
      options: (side) => ({ target: "draft-2020-12", typeMode: side }),
      remedy:
        "valibot describes its schemas with another package: npm install @valibot/to-json-schema, " +
        "or give toStandardJsonSchema(schema) of it",
    },
  ],
  zod: [
    {
      applies: (schema) => isObject(schema) && "_zod" in schema,
      specifier: "zod/v4/core",
      name: "toJSONSchema",
      options: (side) => ({ target: "draft-2020-12", io: side }),
      remedy:
        'this schema of zod does not describe itself: import "zod" 4.2 or later instead of "zod/mini" or "zod/v4"',
    },
    {
      applies: isZod3,
      specifier: "zod-to-json-schema",
      name: "zodToJsonSchema",
      // What a schema does not name, it strips: it may be there.
      options: (side) => ({ pipeStrategy: side, removeAdditionalStrategy: "strict" }),
      remedy: "zod 3 describes its schemas with another package: update to zod 4, or npm install zod-to-json-schema",
    },
  ],
};

/** The converter for schemas of a vendor, as Standard Schema names it. */
export function converterFor(vendor: string, schema: unknown): Converter | undefined {
  const row = Object.hasOwn(rows, vendor) ? rows[vendor]?.find(({ applies }) => applies(schema)) : undefined;
  if (row === undefined) return undefined;
  return {
    remedy: row.remedy,
    describe(given, side) {
      const convert = load(row.specifier)?.[row.name];
      return typeof convert === "function" ? (convert(given, row.options(side)) as unknown) : undefined;
    },
  };
}

/** True for a schema of zod 3, which before 3.24 did not speak Standard Schema. */
export function isZod3(schema: unknown): boolean {
  return isObject(schema) && isObject(schema._def) && typeof schema._def.typeName === "string";
}

/**
 * A package that is installed beside this one. Schemas are compiled at once when they are registered, so it cannot be
 * waited for: only platforms that can load modules synchronously find it. Elsewhere its absence is reported.
 */
function load(specifier: string): Readonly<Record<string, unknown>> | undefined {
  const builtin = globalThis.process?.getBuiltinModule?.("node:module");
  if (builtin === undefined) return undefined;
  const loader = builtin.createRequire(import.meta.url);
  try {
    loader.resolve(specifier);
  } catch {
    return undefined; // Not installed.
  }
  return loader(specifier) as Readonly<Record<string, unknown>>;
}
