import { isObject, type JsonObject } from "../../shared/json.js";

/** Schemas come from peers, and hold each other. */
const deepest = 3;
const mostChoices = 6;

/** The members of a schema as a person writes them: `query: string, limit?: integer`. The text is the peer's. */
export function memberTexts({ properties, required }: JsonObject): readonly string[] {
  if (!isObject(properties)) return [];
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  // What must be given comes first, as in any call.
  const names = Object.keys(properties).toSorted((a, b) => Number(needed.has(b)) - Number(needed.has(a)));
  return names.map((name) => `${name}${needed.has(name) ? "" : "?"}: ${typeText(properties[name])}`);
}

function typeText(schema: unknown, depth = 0): string {
  if (!isObject(schema) || depth === deepest) return "any";
  const inner = (each: unknown): string => typeText(each, depth + 1);
  const { type, enum: values, anyOf, oneOf, items, $ref: ref } = schema;
  if (Array.isArray(values)) return choice(values.map((value) => JSON.stringify(value)));
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(type)) return choice(type.map((each) => inner({ ...schema, type: each })));
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return choice(alternatives.map(inner));
  if (type === "array") return items === undefined ? "array" : arrayText(inner(items));
  if (typeof type === "string") return type;
  const [, definition = "any"] = typeof ref === "string" ? (/([^/#]+)$/.exec(ref) ?? []) : [];
  return definition;
}

function arrayText(item: string): string {
  return item.includes("|") ? `(${item})[]` : `${item}[]`;
}

function choice(texts: readonly string[]): string {
  const shown = [...new Set(texts)].slice(0, mostChoices);
  return (texts.length > mostChoices ? [...shown, "…"] : shown).join("|");
}
