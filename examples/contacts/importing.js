import { ToolError } from "@parlance/mcp/server";
import * as z from "zod";
import { readContacts } from "./csv.js";

/** @import { Book } from "./contacts.js" */

const csv = z.string().max(1_000_000);
const path = z.string().min(1).max(4096).describe("A file in the folder for imports, relative to it");

const Text = z.strictObject({ csv });
const TextOrFile = z
  .strictObject({ csv: csv.optional(), path: path.optional() })
  .refine(({ csv, path }) => (csv === undefined) !== (path === undefined), "needs csv or path, and not both");

/** Rows between two words of progress; after as many, other calls get their turn. */
const block = 100;
const mostRows = 20_000;
const mostFaults = 20;

/**
 * @param {Book} book
 * @param {((path: string) => Promise<string>) | undefined} readFile
 */
export function addImporting({ server, store, listChanged }, readFile) {
  server.tool(
    "import_contacts",
    {
      title: "Import contacts",
      description:
        "Adds contacts from CSV. The first line names the columns: name, and any of email, phone, company and notes. " +
        `At most ${mostRows} rows. If a row is wrong, nothing is imported, and the answer says what to correct.`,
      inputSchema: readFile === undefined ? Text : TextOrFile,
      outputSchema: z.object({ imported: z.int() }),
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    async (source, context) => {
      const text = await textOf(source, readFile);
      const contacts = [];
      const faults = [];
      let rows = 0;
      for (const row of readContacts(text)) {
        rows += 1;
        if (rows > mostRows)
          throw new ToolError(`Nothing is imported: there are more than ${mostRows} rows. Split them`);
        if ("faults" in row) faults.push(...row.faults);
        else contacts.push(row.contact);
        if (faults.length >= mostFaults) break;
        if (rows % block === 0) {
          context.progress(rows, undefined, `${rows} rows read`);
          await new Promise((resolve) => setTimeout(resolve));
          context.signal.throwIfAborted();
        }
      }
      if (faults.length > 0) {
        throw new ToolError(
          `Nothing is imported: correct this, and import all again\n${faults.slice(0, mostFaults).join("\n")}`,
        );
      }
      // Everything is read before anything is written, so that a cancelled import leaves nothing behind, and no other
      // call ever sees half of one.
      context.signal.throwIfAborted();
      store.addAll(contacts);
      listChanged();
      context.progress(rows, rows, `${rows} contacts imported`);
      return { imported: rows };
    },
  );
}

/**
 * @param {{ csv?: string | undefined, path?: string | undefined }} source
 * @param {((path: string) => Promise<string>) | undefined} readFile
 */
async function textOf({ csv = "", path }, readFile) {
  return path === undefined || readFile === undefined ? csv : await readFile(path);
}
