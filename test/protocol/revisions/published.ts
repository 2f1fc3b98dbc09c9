import { existsSync, readFileSync } from "node:fs";
import { type SchemaDraft, Validator } from "@cfworker/json-schema";

// The published schemas (one `<version>/schema.json` each) and a method table made from the specification's text. They
// are not part of this repository: tests that need them are skipped where `../shared` does not have them.

const shared = new URL("../../../../shared/", import.meta.url);
const schemas = new URL("schemas/", shared);
const methodTable = new URL("reference/methods.json", shared);

/** Whether the published schemas are here. */
export const hasSchemas: boolean = hasSchema("2024-11-05");

/** Whether the published schema of a version is here. */
export function hasSchema(version: string): boolean {
  return existsSync(new URL(`${version}/schema.json`, schemas));
}

/** Whether the method table is here. */
export const hasMethodTable: boolean = existsSync(methodTable);

interface SchemaNode {
  readonly $ref?: string;
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: { readonly method?: { readonly const?: string } };
}

interface PublishedSchema {
  readonly definitions?: Readonly<Record<string, SchemaNode>>;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
}

function readSchema(version: string): PublishedSchema {
  return JSON.parse(readFileSync(new URL(`${version}/schema.json`, schemas), "utf8")) as PublishedSchema;
}

/** The methods in a union of the published schema of a version, sorted; none where it has no such union. */
export function methodsIn(version: string, union: string): readonly string[] {
  const { definitions, $defs = definitions ?? {} } = readSchema(version);
  const walk = ({ $ref, anyOf, properties }: SchemaNode): readonly string[] => {
    if ($ref !== undefined) return walk($defs[$ref.split("/").at(-1) ?? ""] ?? {});
    if (anyOf !== undefined) return anyOf.flatMap(walk);
    return properties?.method?.const === undefined ? [] : [properties.method.const];
  };
  return walk($defs[union] ?? {}).toSorted();
}

/** The faults of a value by the published schema of a version. */
export function problems(version: string, definition: string, value: unknown): readonly string[] {
  const schema = readSchema(version);
  const [draft, pointer]: [SchemaDraft, string] = schema.$defs ? ["2020-12", "$defs"] : ["7", "definitions"];
  const validator = new Validator({ ...schema, $ref: `#/${pointer}/${definition}` }, draft, false);
  return validator.validate(value).errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
}

/** A method in the method table. */
export interface MethodRow {
  readonly method: string;
  readonly kind: "request" | "notification";
  readonly direction: string;
  readonly revisions: readonly string[];
  readonly extension?: string;
  readonly embeddedInMrtr?: readonly string[];
  readonly directionByRevision?: Readonly<Record<string, string>>;
}

/** A code in the method table. */
export interface ErrorRow {
  readonly code: number;
  readonly name: string;
  readonly revisions: readonly string[];
}

/** The contents of the method table. */
export interface MethodTable {
  readonly methods: readonly MethodRow[];
  readonly errors: readonly ErrorRow[];
  readonly lenientAliases: Readonly<Record<string, string>>;
}

/** The method table, read. */
export function readMethodTable(): MethodTable {
  return JSON.parse(readFileSync(methodTable, "utf8")) as MethodTable;
}
