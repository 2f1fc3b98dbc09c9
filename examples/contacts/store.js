/** @import * as z from "zod" */
/** @import { Contact, Changes, NewContact } from "./contact.js" */

/**
 * Where the contacts are. Knows nothing of MCP.
 *
 * Nothing in it waits: what a tool does between two of its own waits is one transaction, whatever others call meanwhile.
 *
 * @typedef {object} Store
 * @property {(page: { query: string, limit: number, skip: number }) => { total: number, contacts: z.infer<typeof Contact>[] }} search
 *   contacts in which every word of the query begins some word, the best first; without a word, all of them by name
 * @property {(id: number) => z.infer<typeof Contact> | undefined} get
 * @property {() => z.infer<typeof Contact>[]} all in the order in which they came
 * @property {() => string[]} ids of all contacts, as text
 * @property {(start: string, limit: number) => z.infer<typeof Contact>[]} named those whose name begins with a text
 * @property {(contact: z.infer<typeof NewContact>) => z.infer<typeof Contact>} add
 * @property {(contacts: readonly z.infer<typeof NewContact>[]) => void} addAll all of them, or none
 * @property {(id: number, changes: z.infer<typeof Changes>) => z.infer<typeof Contact> | undefined} update the contact as it
 *   is then; undefined if there is none
 * @property {(id: number) => void} delete
 * @property {() => number[]} deleteAll the ids of all that there were
 */

/** Faults that a person can fix: the file is busy, read-only, or not ours. */
export class StoreError extends Error {}
