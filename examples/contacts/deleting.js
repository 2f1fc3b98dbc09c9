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

// In the stateless era a handler is run again from its start with each answer. Nothing here has an effect before the
// last answer, so nothing happens twice.

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
      const { name } = store.get(id) ?? noContact(id);
      if (canAsk(context)) {
        const { content } = await context.elicit(`Delete ${name} (contact ${id})?`, Sure);
        if (content?.delete !== true) throw refusal();
      } else if (confirm !== true) throw nobodyToAsk();

      if (!store.delete(id)) noContact(id);
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
      const { total } = store.search({ query: "", limit: 1, skip: 0 });
      if (total === 0) return { deleted: 0 };
      if (canAsk(context)) {
        const first = await context.elicit(`Delete all ${total} contacts?`, Sure);
        if (first.content?.delete !== true) throw refusal();
        const second = await context.elicit(`To delete all ${total} contacts, write the word delete`, Word);
        if (second.content?.word.trim().toLowerCase() !== "delete") throw refusal();
      } else if (confirm !== true) throw nobodyToAsk();

      const ids = store.deleteAll();
      for (const id of ids) changed(id);
      listChanged();
      return { deleted: ids.length };
    },
  );
}

/** @param {Context} context */
function canAsk({ client }) {
  return client.capabilities.elicitation !== undefined;
}

function refusal() {
  return new ToolError("Nothing is deleted: the person did not agree");
}

function nobodyToAsk() {
  return new ToolError(
    "Nothing is deleted: this client cannot ask a person. Ask them yourself, then call again with confirm: true",
  );
}
