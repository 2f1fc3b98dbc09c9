import { type JsonObject, kindOf } from "../../base/json.js";
import { SchemaError, shorten } from "../schema-error.js";

/** The supported dialects. A document without `$schema` is read as 2020-12 with the older keywords allowed. */
export type Dialect = "2020-12" | "draft-07" | "unnamed";

const dialects: ReadonlyMap<unknown, Dialect> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["http://json-schema.org/draft-07/schema", "draft-07"],
  ["https://json-schema.org/draft-07/schema", "draft-07"],
]);

/** The dialect that a document declares. Throws for an unsupported one. */
export function dialectOf(document: JsonObject): Dialect {
  return document.$schema === undefined ? "unnamed" : named(document.$schema, "");
}

/** Throws if a subschema declares another dialect than its document. */
export function checkDialect(subschema: JsonObject, dialect: Dialect, pointer: string): void {
  const uri = subschema.$schema;
  if (uri === undefined || named(uri, pointer) === dialect) return;
  throw new SchemaError("dialect", `${pointer}/$schema`, "expected the dialect of the whole document, got another one");
}

function named(uri: unknown, pointer: string): Dialect {
  const dialect = dialects.get(typeof uri === "string" ? uri.replace(/#$/, "") : uri);
  if (dialect !== undefined) return dialect;
  const found = typeof uri === "string" ? JSON.stringify(shorten(uri)) : kindOf(uri);
  const problem = `expected JSON Schema 2020-12 or draft-07, got ${found}: convert the schema, or leave "$schema" out`;
  throw new SchemaError("dialect", `${pointer}/$schema`, problem);
}

/** Throws unless the root declares `type: "object"`, as the protocol requires for tool arguments. */
export function checkRoot(document: JsonObject): void {
  if (document.type === "object") return;
  const found = document.type === undefined ? withoutType(document) : `"type": ${JSON.stringify(document.type)}`;
  const remedy = "give an object of named fields";
  throw new SchemaError("root", "", `expected "type": "object" at the root, got ${shorten(found)}: ${remedy}`);
}

function withoutType(document: JsonObject): string {
  const [keyword] = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const"].filter((name) =>
    Object.hasOwn(document, name),
  );
  return keyword === undefined ? "no type" : `${JSON.stringify(keyword)} without a type`;
}
