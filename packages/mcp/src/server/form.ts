import { isObject, type JsonObject } from "../protocol/json.js";

/** What the specification lets a field of a form say, by its type. */
const keywords: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "format", "enum", "enumNames", "oneOf"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  boolean: [],
  array: ["items", "minItems", "maxItems"],
};
const formats: ReadonlySet<unknown> = new Set(["email", "uri", "date", "date-time"]);
const labels = ["type", "title", "description", "default"];

/**
 * The form that a JSON Schema describes: what a client need not understand is left out, and checked when the answer comes.
 * https://modelcontextprotocol.io/specification/latest/client/elicitation#requested-schema
 *
 * @throws TypeError for a schema that is no flat object of simple fields
 */
export function formOf(schema: JsonObject): JsonObject {
  const { properties = {}, required = [] } = schema;
  if (schema.type !== "object" || !isObject(properties)) throw new TypeError("A form needs a schema of type object");
  const fields = Object.entries(properties).map(([name, field]): [string, JsonObject] => [name, fieldOf(name, field)]);
  const isFilledIn = ([name, field]: [string, JsonObject]): boolean =>
    Array.isArray(required) && required.includes(name) && field.default === undefined;
  const needed = fields.filter(isFilledIn).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields),
    ...(needed.length === 0 ? {} : { required: needed }),
  };
}

function fieldOf(name: string, field: unknown): JsonObject {
  const type = isObject(field) && typeof field.type === "string" ? field.type : "";
  const own = Object.hasOwn(keywords, type) ? keywords[type] : undefined;
  if (!isObject(field) || own === undefined || (type === "array" && !isChoice(field.items))) {
    throw new TypeError(
      `A form cannot ask for ${name}: its fields are strings, numbers, booleans, or one or several of given strings`,
    );
  }
  const kept = Object.entries(field).filter(([keyword, value]) =>
    keyword === "format" ? formats.has(value) : labels.includes(keyword) || own.includes(keyword),
  );
  return Object.fromEntries(kept);
}

function isChoice(items: unknown): boolean {
  return isObject(items) && (Array.isArray(items.enum) || Array.isArray(items.anyOf));
}
