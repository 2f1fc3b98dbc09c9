import { fieldNames, NewContact } from "./contact.js";

/** @import * as z from "zod" */

/** @typedef {{ contact: z.infer<typeof NewContact> } | { faults: string[] }} Row */

class CsvError extends Error {}

/**
 * Contacts of a CSV text, row by row; instead of one that is wrong, what is wrong with it.
 *
 * @param {string} text
 * @returns {Generator<Row>}
 */
export function* readContacts(text) {
  /** @type {string[] | undefined} */
  let names;
  try {
    for (const { line, fields } of rowsOf(text.replace(/^\uFEFF/, ""))) {
      if (names === undefined) names = namesOf(fields);
      else yield readContact(line, names, fields);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { faults: [error.message] };
  }
}

/**
 * @param {number} line
 * @param {string[]} names
 * @param {string[]} fields
 * @returns {Row}
 */
function readContact(line, names, fields) {
  if (fields.length !== names.length) {
    return { faults: [`line ${line}: the fields are ${fields.length}, and the columns ${names.length}`] };
  }
  const { success, data, error } = NewContact.safeParse(
    Object.fromEntries(names.map((name, at) => [name, fields[at]])),
  );
  if (success) return { contact: data };
  return { faults: error.issues.map(({ path, message }) => `line ${line}, ${path.join(".")}: ${message}`) };
}

/**
 * The rows that are not empty, each with the line on which it begins.
 * https://www.rfc-editor.org/rfc/rfc4180
 *
 * @param {string} text
 * @returns {Generator<{ line: number, fields: string[] }>}
 */
function* rowsOf(text) {
  let line = 1;
  let nextLine = 1;
  let fields = [];
  let at = 0;
  for (let end = ","; at < text.length || end === ","; ) {
    const field = fieldAt(text, at);
    if (field === undefined) throw new CsvError(`line ${line}: a quote is not closed, or not at the end of its field`);
    nextLine += text.slice(at, field.next).match(/\r\n|\r|\n/g)?.length ?? 0;
    ({ end, next: at } = field);
    fields.push(field.value ?? "");
    if (end === ",") continue;
    if (fields.length > 1 || field.value !== undefined) yield { line, fields };
    fields = [];
    line = nextLine;
  }
}

const opening = /[ \t]*"/y;
const ending = /([^",\r\n]*)(,|\r\n|\r|\n|$)/y;

/**
 * The field that begins at a place: its value if there is one, what ends it, and where the next one begins.
 *
 * @param {string} text
 * @param {number} start
 */
function fieldAt(text, start) {
  const quoted = quotedAt(text, start);
  const rest = matchAt(ending, text, quoted?.next ?? start);
  if (rest === null) return undefined;
  const [whole, plain = "", end = ""] = rest;
  // Nothing may stand beside what is in quotes.
  if (quoted !== undefined && plain.trim() !== "") return undefined;
  return { value: quoted?.value ?? (plain.trim() || undefined), end, next: rest.index + whole.length };
}

/**
 * @param {string} text
 * @param {number} start
 */
function quotedAt(text, start) {
  const open = matchAt(opening, text, start);
  if (open === null) return undefined;
  const from = start + open[0].length;
  let close = text.indexOf('"', from);
  // Two of them stand for one inside.
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  return close < 0 ? undefined : { value: text.slice(from, close).replaceAll('""', '"'), next: close + 1 };
}

/**
 * @param {RegExp} pattern a sticky one
 * @param {string} text
 * @param {number} at
 */
function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** @param {string[]} row the first one */
function namesOf(row) {
  const names = row.map((name) => name.toLowerCase());
  const wrong = names.find((name, index) => !fieldNames.includes(name) || names.indexOf(name) !== index);
  if (wrong === undefined && names.includes("name")) return names;
  const problem =
    wrong === undefined ? "the column name is missing" : `${JSON.stringify(wrong)} is no column, or is there twice`;
  throw new CsvError(`line 1: ${problem}. The columns are ${fieldNames.join(", ")}`);
}

/**
 * Contacts as CSV, as `readContacts` reads it.
 *
 * @param {readonly z.infer<typeof NewContact>[]} contacts
 */
export function writeContacts(contacts) {
  const rows = contacts.map(({ name, email, phone, company, notes }) => [name, email, phone, company, notes]);
  return [fieldNames, ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

/** @param {string} value */
function quoted(value) {
  return /[",\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
