import { ExactNumber } from "../jsonrpc/message.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { isObjectSchema } from "../protocol/tools.js";
import { without } from "./reshape.js";

const withoutStructure = without("structuredContent");

/**
 * A tool's result for a peer that cannot read its structured content. A result that says nothing in words says it as
 * JSON text, so that nothing is lost. Throws where JSON cannot say the structure, as encoding it would.
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
 * A tool's result for a peer whose structured content is an object: anything else is wrapped as `{ result }`, as both
 * official SDKs have it. There is no way back: an object with the member `result` may be the tool's own.
 */
export function structureAsObject(result: JsonObject): JsonObject {
  const { structuredContent } = result;
  const isKept = structuredContent === undefined || isWrittenAsObject(structuredContent);
  return isKept ? result : { ...withText(result), structuredContent: { result: structuredContent } };
}

// A number that a bridge passes on with all its digits is an object here, and a number on the wire.
function isWrittenAsObject(value: unknown): boolean {
  return isObject(value) && !(value instanceof ExactNumber);
}

/**
 * A tool for a peer whose output schemas are of type object, in agreement with `structureAsObject`, which knows results and
 * no schemas. A schema that only takes objects says so; one that takes none is that of `result`; and one that takes both
 * leads to either, by the value.
 */
export function outputAsObject(tool: JsonObject): JsonObject {
  const { outputSchema } = tool;
  if (!isObject(outputSchema) || isObjectSchema(outputSchema)) return tool;
  return { ...tool, outputSchema: objectSchemaOf(outputSchema) };
}

function objectSchemaOf(schema: JsonObject): JsonObject {
  const taken = objectsIn(schema, schema, new Map());
  if (taken === "only") return { ...schema, type: "object" };
  // A dialect is that of the document, and stands at its root alone.
  const { $schema, ...inner } = schema;
  const root = { ...($schema === undefined ? {} : { $schema }), type: "object" };
  if (taken === "none") {
    return { ...root, properties: { result: moved(inner, "/properties/result") }, required: ["result"] };
  }
  const wrapped = { type: "object", properties: { result: { $ref: "#/anyOf/0" } }, required: ["result"] };
  return { ...root, anyOf: [moved(inner, "/anyOf/0"), wrapped] };
}

/** Whether a schema takes objects only, none, or may take both, as far as it is plain to see. */
type Objects = "only" | "none" | "both";

/** @param known what was found out; each schema is looked at once, however many references of a peer lead to it */
function objectsIn(schema: unknown, root: JsonObject, known: Map<unknown, Objects>): Objects {
  if (!isObject(schema)) return schema === false ? "none" : "both";
  const before = known.get(schema);
  if (before !== undefined) return before;
  known.set(schema, "both"); // What it says by referring to itself is nothing.
  const { type, const: only, enum: values, anyOf, oneOf, allOf, $ref } = schema;
  const said: Objects[] = [];
  if (type !== undefined) said.push(among([type].flat().map((each) => each === "object")));
  if (only !== undefined) said.push(among([isObject(only)]));
  if (Array.isArray(values)) said.push(among(values.map(isObject)));
  for (const choices of [anyOf, oneOf]) {
    if (Array.isArray(choices)) said.push(either(choices.map((each) => objectsIn(each, root, known))));
  }
  if (Array.isArray(allOf)) said.push(...allOf.map((each) => objectsIn(each, root, known)));
  if (typeof $ref === "string") said.push(objectsIn(follow($ref, root), root, known));
  // All of it holds at the same time.
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

/** What a reference within a document leads to; undefined, which may take anything, where it leads elsewhere. */
function follow(reference: string, root: JsonObject): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let place: unknown = root;
  for (const token of reference.slice(2).split("/")) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof place === "object" && place !== null && Object.hasOwn(place, name);
    place = isThere ? (place as JsonObject)[name] : undefined;
  }
  return place;
}

/** Keywords whose values are data, in which a `$ref` is a member as any other. */
const dataKeywords: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** Keywords whose values are schemas by names that their author has chosen. */
const namedSchemas: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

/**
 * A schema with its references as they are when it stands at a place in another document: the root has become that place.
 * One with an `$id` is a document of its own, wherever it stands.
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

// In older drafts an `$id` that is a fragment is the name of a place.
function hasOwnBase({ $id }: JsonObject): boolean {
  return typeof $id === "string" && !$id.startsWith("#");
}

function movedReference(reference: string, place: string): string {
  return reference === "#" || reference.startsWith("#/") ? `#${place}${reference.slice(1)}` : reference;
}
