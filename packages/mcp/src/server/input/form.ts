import { isObject, type JsonObject } from "../../base/json.js";

/** The keywords that the specification allows for a field of a form, by its type. */
const keywords: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "format"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  boolean: [],
  array: ["minItems", "maxItems"],
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
  if (!isObject(field) || own === undefined) throw notAField(name);
  const kept = Object.entries(field).filter(([keyword, value]) =>
    keyword === "format" ? formats.has(value) : labels.includes(keyword) || own.includes(keyword),
  );
  const plain = Object.fromEntries(kept);
  if (type === "array") return { ...plain, items: choicesOf(name, field.items, "anyOf") };
  return type === "string" && isChoice(field) ? { ...plain, ...choicesOf(name, field, "oneOf") } : plain;
}

function isChoice(schema: JsonObject): boolean {
  return schema.enum !== undefined || schema.oneOf !== undefined;
}

/** The choices of a field as the protocol writes them: strings alone, or each with a title. A string without a title is its own. */
function choicesOf(name: string, schema: unknown, member: "oneOf" | "anyOf"): JsonObject {
  if (!isObject(schema)) throw notAField(name);
  const { enum: values, enumNames: names, [member]: choices } = schema;
  const type = member === "oneOf" ? { type: "string" } : {}; // Items say it only where they have no titles.
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) {
    if (!Array.isArray(names)) return { type: "string", enum: values };
    return { ...type, [member]: values.map((value, index) => titled(value, names[index])) };
  }
  if (!Array.isArray(choices) || !choices.every((choice) => isObject(choice) && typeof choice.const === "string")) {
    throw notAField(name);
  }
  return { ...type, [member]: choices.map((choice) => titled(choice.const, choice.title)) };
}

function titled(value: string, title: unknown): JsonObject {
  return { const: value, title: typeof title === "string" ? title : value };
}

function notAField(name: string): TypeError {
  return new TypeError(
    `A form cannot ask for ${name}: its fields are strings, numbers, booleans, or one or several of given strings`,
  );
}
