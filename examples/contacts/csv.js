import { CsvError, parse } from "csv-parse/browser/esm";
import { fieldNames, NewContact } from "./contact.js";

/** @import * as z from "zod" */

/** @typedef {{ contact: z.infer<typeof NewContact> } | { faults: string[] }} Row */

/**
 * Contacts of a CSV text, row by row; instead of one that is wrong, what is wrong with it.
 *
 * @param {string} text
 * @returns {AsyncGenerator<Row>}
 */
export async function* readContacts(text) {
  const parser = parse(text, { bom: true, columns: namesOf, info: true, skip_empty_lines: true, trim: true });
  try {
    for await (const { record, info } of parser) {
      const { success, data, error } = NewContact.safeParse(record);
      if (success) yield { contact: data };
      // Of a row over several lines, the last one.
      else
        yield { faults: error.issues.map(({ path, message }) => `line ${info.lines}, ${path.join(".")}: ${message}`) };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { faults: [error.message] };
  }
}

/** @param {string[]} row the first one */
function namesOf(row) {
  const names = row.map((name) => name.trim().toLowerCase());
  const wrong = names.find((name, index) => !fieldNames.includes(name) || names.indexOf(name) !== index);
  if (wrong === undefined && names.includes("name")) return names;
  const problem =
    wrong === undefined ? "the column name is missing" : `${JSON.stringify(wrong)} is no column, or is there twice`;
  throw new CsvError("CSV_INVALID_COLUMN_MAPPING", `line 1: ${problem}. The columns are ${fieldNames.join(", ")}`);
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
