import { invalidParams } from "@parlance/mcp/server";
import { writeContacts } from "./csv.js";

/** @import { Book } from "./contacts.js" */

/** More than these are found by search_contacts. */
const mostListed = 1_000;
const mostOffered = 100;

/**
 * Choices of a person in their client: contacts to show the model, and a letter to write.
 *
 * @param {Book} book
 */
export function addReading({ server, store }) {
  const all = { name: "all", title: "All contacts", description: "As import_contacts takes it", mimeType: "text/csv" };
  server.resource("contacts:/all", all, () => writeContacts(store.all()));

  server.resourceTemplate(
    "contacts:/{id}",
    {
      name: "contact",
      title: "A contact",
      mimeType: "application/json",
      list: () => store.named("", mostListed).map(({ id, name }) => ({ uri: `contacts:/${id}`, name })),
      complete: { id: (typed) => store.ids().filter((id) => id.startsWith(typed)) },
    },
    ({ id }) => {
      const contact = /^[1-9]\d{0,14}$/.test(id) ? store.get(Number(id)) : undefined;
      return contact && JSON.stringify(contact);
    },
  );

  server.prompt(
    "write_to",
    {
      title: "Write to a contact",
      description: "A message to one of the contacts",
      arguments: { name: { required: true, description: "As it is in the contacts" }, about: { required: true } },
      complete: { name: (typed) => store.named(typed, mostOffered).map(({ name }) => name) },
    },
    ({ name, about }) => {
      const contact = store.named(name, mostOffered).find((contact) => contact.name === name);
      if (contact === undefined) {
        throw invalidParams(`There is no contact called ${name}`, [
          { path: "/arguments/name", message: "is nobody's" },
        ]);
      }
      return `Write a short message to this contact about ${about}:\n${JSON.stringify(contact)}`;
    },
  );
}
