import * as z from "zod";

// SQLite ends a text at NUL, so that a text with one would not come back as it was.
const text = (/** @type {number} */ length) =>
  z
    .string()
    .max(length)
    .regex(/^[^\0]*$/, "may not hold the character NUL");

const fields = {
  name: text(200).trim().min(1, "may not be empty"),
  email: z.union([z.literal(""), z.email().max(200)], "must be an e-mail address, or empty"),
  phone: text(50),
  company: text(200),
  notes: text(10_000),
};

/** The fields of a contact. Unknown ones are empty. */
export const NewContact = z.strictObject({
  name: fields.name,
  email: fields.email.default(""),
  phone: fields.phone.default(""),
  company: fields.company.default(""),
  notes: fields.notes.default(""),
});

/** The changes of a contact: only the given fields. */
export const Changes = z.strictObject(fields).partial();

/** The number of a contact. It is never given to another one. */
export const id = z.int().min(1).describe("The number of a contact, as search_contacts shows it");

/** A contact as it is shown; a field that is not known is empty. */
export const Contact = z.object({
  id: z.int(),
  name: z.string(),
  email: z.string(),
  phone: z.string(),
  company: z.string(),
  notes: z.string(),
});

/** The fields that a person fills in, in the order in which they are shown. */
export const fieldNames = Object.keys(fields);
