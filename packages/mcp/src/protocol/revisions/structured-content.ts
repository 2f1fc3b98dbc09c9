import { isObject, type JsonObject, valueAt } from "../../base/json.js";
import { ExactNumber } from "../../jsonrpc/message.js";
import { isObjectSchema, namedSchemas } from "../types/tools.js";
import { without } from "./conversion.js";

const withoutStructure = without("structuredContent");

/**
 * Converts a tool result for clients without structured content. If it has no content blocks, the structured content is
 * added as JSON text. Throws if it cannot be written as JSON, as encoding would.
 * https://modelcontextprotocol.io/specification/latest/server/tools#structured-content
 */
export function structureAsText(result: JsonObject): unknown {
  return withoutStructure(withText(result));
}

function withText(result: JsonObject): JsonObject {
  const { content, structuredContent } = result;
  const silent = Array.isArray(content) && content.length === 0 && structuredContent !== undefined;
  return silent ? { ...result, content: [{ type: "text", text: JSON.stringify(structuredContent) }] } : result;
}

/**
 * Converts a tool result for clients whose structured content is an object: other values are wrapped as `{ result }`,
 * as both official SDKs do. There is no reverse: an object with the member `result` may be the tool's own.
 */
export function structureAsObject(result: JsonObject): JsonObject {
  const { structuredContent } = result;
  const isKept = structuredContent === undefined || isWrittenAsObject(structuredContent);
  return isKept ? result : { ...withText(result), structuredContent: { result: structuredContent } };
}

// A bridge represents numbers that a double cannot hold as objects, which are written as numbers.
function isWrittenAsObject(value: unknown): boolean {
  return isObject(value) && !(value instanceof ExactNumber);
}

/**
 * Converts a tool for clients whose output schemas have type object, consistently with `structureAsObject`, which sees
 * results but no schemas. If the schema accepts only objects, it gets `type: "object"`; if it accepts none, it becomes
 * the schema of `result`; if it accepts both, either form is valid, depending on the value.
 */
export function outputAsObject(tool: JsonObject): JsonObject {
  const { outputSchema } = tool;
  if (!isObject(outputSchema) || isObjectSchema(outputSchema)) return tool;
  return { ...tool, outputSchema: objectSchemaOf(outputSchema) };
}

function objectSchemaOf(schema: JsonObject): JsonObject {
  const taken = objectsIn(schema, schema, new Map());
  if (taken === "only") return { ...schema, type: "object" };
  // `$schema` applies to a document, so it stays at the root.
  const { $schema, ...inner } = schema;
  const root = { ...($schema === undefined ? {} : { $schema }), type: "object" };
  if (taken === "none") {
    return { ...root, properties: { result: moved(inner, "/properties/result") }, required: ["result"] };
  }
  const wrapped = { type: "object", properties: { result: { $ref: "#/anyOf/0" } }, required: ["result"] };
  return { ...root, anyOf: [moved(inner, "/anyOf/0"), wrapped] };
}

/** Whether a schema accepts only objects, no objects, or possibly both. */
type Objects = "only" | "none" | "both";

/** @param known the results so far; each schema is visited once, however many references lead to it */
function objectsIn(schema: unknown, root: JsonObject, known: Map<unknown, Objects>): Objects {
  if (!isObject(schema)) return schema === false ? "none" : "both";
  const before = known.get(schema);
  if (before !== undefined) return before;
  known.set(schema, "both"); // A recursive reference adds no information.
  const { type, const: only, enum: values, anyOf, oneOf, allOf, $ref } = schema;
  const said: Objects[] = [];
  if (type !== undefined) said.push(among([type].flat().map((each) => each === "object")));
  if (only !== undefined) said.push(among([isObject(only)]));
  if (Array.isArray(values)) said.push(among(values.map(isObject)));
  for (const choices of [anyOf, oneOf]) {
    if (Array.isArray(choices)) said.push(either(choices.map((each) => objectsIn(each, root, known))));
  }
  if (Array.isArray(allOf)) said.push(...allOf.map((each) => objectsIn(each, root, known)));
  if (typeof $ref === "string" && isPointer($ref)) said.push(objectsIn(valueAt(root, $ref.slice(1)), root, known));
  // All of these apply at once.
  const all = said.find((each) => each === "none") ?? said.find((each) => each === "only") ?? "both";
  known.set(schema, all);
  return all;
}

function among(areObjects: readonly boolean[]): Objects {
  return either(areObjects.map((isOne) => (isOne ? "only" : "none")));
}

function either(choices: readonly Objects[]): Objects {
  const [first = "both"] = choices;
  return choices.every((each) => each === first) ? first : "both";
}

/** Whether a reference is a JSON pointer into its document. Another may lead anywhere, so anything is accepted there. */
function isPointer(reference: string): boolean {
  return reference === "#" || reference.startsWith("#/");
}

/** Keywords whose arguments are data: a `$ref` in them is an ordinary member. */
const dataKeywords: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/**
 * Adjusts the references of a schema that moves to another place, at which its former root now is. A schema with an
 * `$id` is a document of its own and stays as it is.
 */
function moved(schema: unknown, place: string): unknown {
  if (Array.isArray(schema)) return schema.map((each: unknown) => moved(each, place));
  if (!isObject(schema) || hasOwnBase(schema)) return schema;
  const members = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (dataKeywords.has(keyword)) return [keyword, value];
    if (namedSchemas.has(keyword) && isObject(value)) {
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, moved(each, place)]))];
    }
    const isReference = (keyword === "$ref" || keyword === "$dynamicRef") && typeof value === "string";
    return [keyword, isReference ? movedReference(value, place) : moved(value, place)];
  });
  return Object.fromEntries(members);
}

// In older drafts, an `$id` that is a fragment is an anchor.
function hasOwnBase({ $id }: JsonObject): boolean {
  return typeof $id === "string" && !$id.startsWith("#");
}

function movedReference(reference: string, place: string): string {
  return isPointer(reference) ? `#${place}${reference.slice(1)}` : reference;
}
