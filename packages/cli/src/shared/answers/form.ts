import type { ElicitFormParams, ElicitResult } from "@parlance/mcp/client";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import { compile, SchemaError } from "@parlance/mcp/schema";
import { visibleLines } from "../output/columns.js";
import { prettyJson } from "../output/json-lines.js";
import type { Talk } from "./dialog.js";

/** Asks for the fields of a form, shows the result, and sends or declines it. */
export async function fillIn({ requestedSchema }: ElicitFormParams, talk: Talk): Promise<ElicitResult> {
  const fields = fieldsOf(requestedSchema);
  if (fields.length === 0) {
    // No second question follows, and what is agreed to may be a deletion: Enter alone decides nothing.
    const choice = await choose("Accept? [y]es, [d]ecline, [c]ancel: ", "ydc", talk, "");
    return choice === "y" ? { action: "accept", content: {} } : refusal(choice);
  }
  const first = await choose("Fill in the form? [Y]es, [d]ecline, [c]ancel: ", "ydc", talk);
  if (first !== "y") return refusal(first);
  for (;;) {
    const content: Record<string, unknown> = {};
    for (const field of fields) {
      const value = await askField(field, talk);
      if (value !== undefined) Object.defineProperty(content, field.name, { value, enumerable: true, writable: true });
    }
    talk.output.print(...prettyJson(content).split("\n"));
    const next = await choose("Send it? [Y]es, [e]dit, [d]ecline, [c]ancel: ", "yedc", talk);
    // Each value was validated against its field.
    if (next === "y") return { action: "accept", content: content as ElicitResult["content"] };
    if (next !== "e") return refusal(next);
  }
}

function refusal(key: string): ElicitResult {
  return { action: key === "d" ? "decline" : "cancel" };
}

/** Asks until the input begins with one of the keys. @param empty the key for empty input; "" asks again */
export async function choose(prompt: string, keys: string, talk: Talk, empty: string = keys[0] ?? ""): Promise<string> {
  for (;;) {
    const [key = empty] = (await talk.ask(prompt)).trim().toLowerCase();
    if (key !== "" && keys.includes(key)) return key;
    talk.output.print(talk.output.style.yellow(`answer ${[...keys].join(", ").replace(/, (.)$/, " or $1")}`));
  }
}

async function askField(field: Field, talk: Talk): Promise<unknown> {
  const { print, style } = talk.output;
  const { title, description, hints, choices } = field;
  if (description !== undefined) print(...visibleLines(description).map(style.dim));
  print(...choices.map(({ label }, index) => visibleLines(`  ${index + 1}  ${label}`).join(" ")));
  const [prompt = ""] = visibleLines(`${title}${hints.length === 0 ? "" : ` (${hints.join(", ")})`}: `);
  for (;;) {
    const read = await readField(field, (await talk.ask(prompt)).trim());
    if ("value" in read) return read.value;
    print(...visibleLines(read.problem).map((line) => style.yellow(line)));
  }
}

/** An example for the command line: each required field that has no default, with its first allowed value. */
export function exampleOf({ requestedSchema }: ElicitFormParams): JsonObject {
  const required = fieldsOf(requestedSchema).filter((field) => field.isRequired && field.standard === undefined);
  const entries = required.map(({ name, choices: [choice], schema }) => [name, choice?.value ?? sample(schema)]);
  return Object.fromEntries(entries);
}

function sample(schema: unknown): unknown {
  const { type } = isObject(schema) ? schema : { type: undefined };
  if (type === "boolean") return true;
  if (type === "array") return [];
  return type === "number" || type === "integer" ? 1 : "…";
}

/** One field of a form. Its texts come from the server: escape them. */
interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** The default value; undefined without one. */
  readonly standard: unknown;
  /** The choices; empty for a free field. */
  readonly choices: readonly Choice[];
  readonly hints: readonly string[];
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The value of a field. An undefined value is left out. */
type ReadField = { readonly value: unknown } | { readonly problem: string };

/** The fields of a form, required ones first. */
function fieldsOf(form: unknown): readonly Field[] {
  const { properties, required } = isObject(form) ? form : { properties: {}, required: [] };
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) =>
    fieldOf(name, isObject(schema) ? schema : {}, needed.has(name)),
  );
  return fields.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

function fieldOf(name: string, schema: JsonObject, isRequired: boolean): Field {
  const { title, description, default: standard, type } = schema;
  const choices = choicesOf(type === "array" && isObject(schema.items) ? schema.items : schema);
  const hints = [
    typeHint(schema, choices),
    ...boundHints(schema),
    standard === undefined ? (isRequired ? "required" : "may be empty") : `default ${JSON.stringify(standard)}`,
  ].filter((hint) => hint !== "");
  return {
    name,
    title: typeof title === "string" && title !== "" ? title : name,
    description: typeof description === "string" ? description : undefined,
    schema,
    isRequired,
    standard,
    choices,
    hints,
  };
}

/** https://modelcontextprotocol.io/specification/latest/client/elicitation#requested-schema */
function choicesOf({ enum: values, enumNames, oneOf, anyOf }: JsonObject): readonly Choice[] {
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  if (Array.isArray(titled))
    return titled
      .filter(isObject)
      .map(({ const: value, title }) => ({ value: String(value), label: String(title ?? value) }));
  if (!Array.isArray(values)) return [];
  const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  return values.map((value, index) => ({ value: String(value), label: String(names[index] ?? value) }));
}

function typeHint({ type, format }: JsonObject, choices: readonly Choice[]): string {
  if (type === "array") return choices.length > 0 ? "numbers, separated by commas" : "values, separated by commas";
  if (choices.length > 0) return "a number";
  if (type === "boolean") return "y or n";
  if (typeof format === "string") return format;
  return type === "number" || type === "integer" ? type : "";
}

const bounds = [
  ["minLength", "at least", " characters"],
  ["maxLength", "at most", " characters"],
  ["minimum", "at least", ""],
  ["maximum", "at most", ""],
  ["minItems", "at least", " of them"],
  ["maxItems", "at most", " of them"],
] as const;

function boundHints(schema: JsonObject): readonly string[] {
  return bounds.flatMap(([keyword, word, unit]) =>
    typeof schema[keyword] === "number" ? [`${word} ${schema[keyword]}${unit}`] : [],
  );
}

/** Parses an input for a field; a problem if the field does not allow it. */
async function readField(field: Field, text: string): Promise<ReadField> {
  const { name, schema, isRequired, standard } = field;
  if (text === "") {
    if (standard !== undefined) return { value: standard };
    return isRequired ? { problem: "this field is required" } : { value: undefined };
  }
  const value = typedValue(field, text);
  try {
    const form = compile({ type: "object", properties: { [name]: schema } }, { trust: "peer", formats: "assert" });
    const checked = await form.check({ [name]: value });
    return checked.ok ? { value } : { problem: checked.errors.map(({ message }) => message).join("; ") };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return { value }; // The library validates the whole form before it is sent.
  }
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ["y", true],
  ["yes", true],
  ["true", true],
  ["n", false],
  ["no", false],
  ["false", false],
]);

/** The typed value of an input. Input that does not look like a value of the field stays text, which validation refuses. */
function typedValue({ schema: { type }, choices }: Field, text: string): unknown {
  if (type === "array") return text.split(",").map((each) => chosen(choices, each.trim()));
  if (type === "boolean") return truths.get(text.toLowerCase()) ?? text;
  if (type === "number" || type === "integer") return Number.isFinite(Number(text)) ? Number(text) : text;
  return chosen(choices, text);
}

/** A choice by its value, its label or its number. */
function chosen(choices: readonly Choice[], text: string): string {
  const found =
    choices.find(({ value }) => value === text) ??
    choices.find(({ label }) => label.toLowerCase() === text.toLowerCase()) ??
    (/^[1-9]\d*$/.test(text) ? choices[Number(text) - 1] : undefined);
  return found?.value ?? text;
}
