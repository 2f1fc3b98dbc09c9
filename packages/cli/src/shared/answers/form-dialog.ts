import type { ElicitFormParams, ElicitResult } from "@parlance/mcp/client";
import { isObject } from "@parlance/mcp/protocol";
import { visibleLines } from "../output/columns.js";
import { prettyJson } from "../output/json-lines.js";
import type { Talk } from "./dialog.js";
import { type Field, fieldsOf, readField } from "./form-fields.js";

/** Asks for the fields of a form, shows the result, and sends or declines it. */
export async function fillIn({ requestedSchema }: ElicitFormParams, talk: Talk): Promise<ElicitResult> {
  const first = await choose("Fill in the form? [Y]es, [d]ecline, [c]ancel: ", "ydc", talk);
  if (first !== "y") return refusal(first);
  for (;;) {
    const content: Record<string, unknown> = {};
    for (const field of fieldsOf(requestedSchema)) {
      const value = await askField(field, talk);
      if (value !== undefined) Object.defineProperty(content, field.name, { value, enumerable: true, writable: true });
    }
    talk.output.print(...prettyJson(content).split("\n"));
    const next = await choose("Send it? [Y]es, [e]dit, [d]ecline, [c]ancel: ", "yedc", talk);
    // Each value has been validated against its field.
    if (next === "y") return { action: "accept", content: content as ElicitResult["content"] };
    if (next !== "e") return refusal(next);
  }
}

function refusal(key: string): ElicitResult {
  return { action: key === "d" ? "decline" : "cancel" };
}

/** Asks until the input begins with one of the keys; empty input is the first key. */
export async function choose(prompt: string, keys: string, talk: Talk): Promise<string> {
  for (;;) {
    const [key = keys[0] ?? ""] = (await talk.ask(prompt)).trim().toLowerCase();
    if (keys.includes(key)) return key;
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

/** An example for the command line: each required field with its first allowed value. */
export function exampleOf({ requestedSchema }: ElicitFormParams): string {
  const required = fieldsOf(requestedSchema).filter((field) => field.isRequired && field.standard === undefined);
  const entries = required.map(({ name, choices: [choice], schema }) => [name, choice?.value ?? sample(schema)]);
  return JSON.stringify(Object.fromEntries(entries));
}

function sample(schema: unknown): unknown {
  const { type } = isObject(schema) ? schema : { type: undefined };
  if (type === "boolean") return true;
  if (type === "array") return [];
  return type === "number" || type === "integer" ? 1 : "…";
}
