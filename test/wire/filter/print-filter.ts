import type { Filter, Written } from "../../../packages/wire/src/filter/filter.js";
import type { Pattern } from "../../../packages/wire/src/filter/pattern.js";

/** A filter as text, which parses to the same filter. */
export function printFilter(filter: Filter): string {
  switch (filter.is) {
    case "everything":
      return "";
    case "and":
    case "or":
      return filter.of.map(grouped).join(filter.is === "or" ? " or " : " ");
    case "not":
      return `-${grouped(filter.of)}`;
    case "text":
      return printText(filter.text);
    case "pattern":
      return printPattern(filter.pattern);
    case "field":
      return printCondition(filter);
    case "pair":
      return `pair(${filter.n})`;
    case "call":
      return `call(${printWritten(filter.id)})`;
    case "saved":
      return `@${filter.name}`;
  }
}

function grouped(filter: Filter): string {
  const text = printFilter(filter);
  return filter.is === "and" || filter.is === "or" ? `(${text})` : text;
}

function printCondition({ field, op, value }: Extract<Filter, { readonly is: "field" }>): string {
  const written = op === "~" ? printPattern(value) : printWritten(value);
  return op === "has" ? `${field} has ${written}` : `${field}${op}${written}`;
}

/** An unambiguous word needs no quotes. */
function printText(text: string): string {
  return /^[a-zA-Z][\w.]*$/.test(text) && !/^(?:and|or|not|has|pair|call)$/i.test(text) ? text : quote(text);
}

function printWritten({ text, quoted }: Written): string {
  return quoted ? quote(text) : text;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function printPattern({ source, ignoreCase }: Pattern): string {
  return `/${source}/${ignoreCase ? "i" : ""}`;
}
