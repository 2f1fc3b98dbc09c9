import { isObject } from "../base/json.js";

/** A package that converts schemas of a library that cannot produce JSON Schema itself. */
interface Converter {
  readonly applies: (schema: unknown) => boolean;
  readonly specifier: string;
  /** The name of its function, and the options of that function. */
  readonly name: string;
  readonly options: (side: "input" | "output") => object;
  /** The error message when the package is not installed: the problem and the remedy. */
  readonly remedy: string;
}

const converters: Readonly<Record<string, readonly Converter[]>> = {
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
      // zod 3 strips unknown members, so the input may contain them.
      options: (side) => ({ pipeStrategy: side, removeAdditionalStrategy: "strict" }),
      remedy: "zod 3 describes its schemas with another package: update to zod 4, or npm install zod-to-json-schema",
    },
  ],
};

/** The converter for schemas of a Standard Schema vendor. */
export function converterFor(vendor: string, schema: unknown): Converter | undefined {
  return Object.hasOwn(converters, vendor) ? converters[vendor]?.find(({ applies }) => applies(schema)) : undefined;
}

/**
 * The JSON Schema of a schema; undefined if the package is not installed.
 * @throws what the package throws
 */
export function convert({ specifier, name, options }: Converter, schema: unknown, side: "input" | "output"): unknown {
  const describe = load(specifier)?.[name];
  return typeof describe === "function" ? describe(schema, options(side)) : undefined;
}

/** True for a zod 3 schema; before 3.24 these did not implement Standard Schema. */
export function isZod3(schema: unknown): boolean {
  return isObject(schema) && isObject(schema._def) && typeof schema._def.typeName === "string";
}

/**
 * Loads an optional package. Schemas compile synchronously at registration, so a dynamic `import()` is not possible.
 * Platforms without synchronous module loading report the package as not installed.
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
