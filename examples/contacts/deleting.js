import { revisionOf } from "@parlance/mcp/protocol";
import { ToolError } from "@parlance/mcp/server";
import * as z from "zod";
import { id } from "./contact.js";
import { noContact } from "./tools.js";

/** @import { Context } from "@parlance/mcp/server" */
/** @import { Book } from "./contacts.js" */

const confirm = z
  .literal(true)
  .optional()
  .describe("Only for clients that cannot ask a person: true once the person has agreed");
const outputSchema = z.object({ deleted: z.int().describe("How many contacts are gone") });
const annotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: false };

const Sure = z.object({ delete: z.boolean().default(false).describe("This cannot be undone") });
const Word = z.object({ word: z.string().max(20).describe("The word delete") });

// In the stateless era a handler is run again from its start with each answer. It must then ask the same, so that `once`
// keeps what the question is about; and nothing has an effect before the last answer. Meanwhile others may have changed
// what the person has agreed to: that is looked at again.

/** @param {Book} book */
export function addDeleting({ server, store, changed, listChanged }) {
  server.tool(
    "delete_contact",
    {
      title: "Delete a contact",
      description: "Deletes one contact, after a person has agreed.",
      inputSchema: z.strictObject({ id, confirm }),
      outputSchema,
      annotations,
    },
    async ({ id, confirm }, context) => {
      const nameNow = () => (store.get(id) ?? noContact(id)).name;
      const name = await context.once("name", nameNow);
      if (canAsk(context)) {
        const { content } = await context.elicit(`Delete ${name} (contact ${id})?`, Sure);
        if (content?.delete !== true) throw refusal();
      } else if (confirm !== true) throw nobodyToAsk();

      if (nameNow() !== name) throw changedMeanwhile();
      store.delete(id);
      changed(id);
      listChanged();
      return { deleted: 1 };
    },
  );

  server.tool(
    "delete_all_contacts",
    {
      title: "Delete all contacts",
      description:
        "Deletes every contact, after a person has agreed twice. The resource contacts:/all is a copy of all.",
      inputSchema: z.strictObject({ confirm }),
      outputSchema,
      annotations,
    },
    async ({ confirm }, context) => {
      const totalNow = () => store.search({ query: "", limit: 1, skip: 0 }).total;
      const total = await context.once("total", totalNow);
      if (total === 0) return { deleted: 0 };
      if (canAsk(context)) {
        const first = await context.elicit(`Delete all ${total} contacts?`, Sure);
        if (first.content?.delete !== true) throw refusal();
        const second = await context.elicit(`To delete all ${total} contacts, write the word delete`, Word);
        if (second.content?.word.trim().toLowerCase() !== "delete") throw refusal();
      } else if (confirm !== true) throw nobodyToAsk();

      if (totalNow() !== total) throw changedMeanwhile();
      const ids = store.deleteAll();
      for (const id of ids) changed(id);
      listChanged();
      return { deleted: ids.length };
    },
  );
}

/**
 * Some clients declare what their revision does not have, and some have pages to visit, but no forms.
 *
 * @param {Context} context
 */
function canAsk({ client, revision }) {
  const { elicitation } = client.capabilities;
  if (elicitation === undefined || revisionOf(revision)?.facts.elicitation === "none") return false;
  return elicitation.form !== undefined || elicitation.url === undefined;
}

function refusal() {
  return new ToolError("Nothing is deleted: the person did not agree");
}

function changedMeanwhile() {
  return new ToolError("Nothing is deleted: the contacts have changed while the person was asked. Call again");
}

function nobodyToAsk() {
  return new ToolError(
    "Nothing is deleted: this client cannot ask a person. Ask them yourself, then call again with confirm: true",
  );
}
