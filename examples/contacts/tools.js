import { ToolError } from "@parlance/mcp/server";
import * as z from "zod";
import { Changes, Contact, id, NewContact } from "./contact.js";

/** @import { Book } from "./contacts.js" */

// Descriptions are for the model: what a tool is for, what it takes, and what its answer means.

const reads = { readOnlyHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** @param {Book} book */
export function addTools(book) {
  addLookups(book);
  addEdits(book);
}

/** @param {Book} book */
function addLookups({ server, store }) {
  server.tool(
    "search_contacts",
    {
      title: "Search contacts",
      description:
        "Finds contacts in which every word of the query begins some word, in any field and with or without accents: " +
        "the best first. Without a query, all of them by name.",
      inputSchema: z.strictObject({
        query: z.string().max(200).default(""),
        limit: z.int().min(1).max(100).default(20),
        skip: z.int().min(0).max(1_000_000).default(0).describe("How many to pass over, to see the next page"),
      }),
      outputSchema: z.object({ total: z.int().describe("On all pages"), contacts: z.array(Contact) }),
      annotations: reads,
    },
    (page) => store.search(page),
  );

  server.tool(
    "get_contact",
    {
      title: "Get a contact",
      description: "Shows one contact.",
      inputSchema: z.strictObject({ id }),
      outputSchema: Contact,
      annotations: reads,
    },
    ({ id }) => store.get(id) ?? noContact(id),
  );
}

/** @param {Book} book */
function addEdits({ server, store, changed, listChanged }) {
  server.tool(
    "add_contact",
    {
      title: "Add a contact",
      description: "Adds a contact and shows it with its id. Does not look whether the person is there already.",
      inputSchema: NewContact,
      outputSchema: Contact,
      annotations: writes,
    },
    (contact) => {
      const added = store.add(contact);
      listChanged();
      return added;
    },
  );

  server.tool(
    "update_contact",
    {
      title: "Update a contact",
      description: "Changes the fields that are given, and shows the contact. An empty text empties a field.",
      inputSchema: z.strictObject({ id, ...Changes.shape }),
      outputSchema: Contact,
      annotations: { ...writes, destructiveHint: true, idempotentHint: true },
    },
    ({ id, ...changes }) => {
      const contact = store.update(id, changes) ?? noContact(id);
      changed(id);
      if (changes.name !== undefined) listChanged();
      return contact;
    },
  );
}

/**
 * @param {number} id
 * @returns {never}
 */
export function noContact(id) {
  throw new ToolError(`There is no contact ${id}: search_contacts shows the ids`);
}
