/** @import * as z from "zod" */
/** @import { Changes, Contact, NewContact } from "./contact.js" */
/** @import { Store } from "./store.js" */

/**
 * Contacts in the memory of whatever runs JavaScript. They are gone when it ends.
 *
 * @implements {Store}
 */
export class MemoryStore {
  /** @type {Map<number, z.infer<typeof Contact>>} */
  #contacts = new Map();
  #lastId = 0;

  /** @param {{ query: string, limit: number, skip: number }} page */
  search({ query, limit, skip }) {
    const words = wordsOf(query);
    // A text without a word, such as "?!", matches no contact.
    const isVain = words.length === 0 && query.trim() !== "";
    const found = isVain ? [] : this.all().filter((contact) => hasWords(textOf(contact), words));
    const isBetter = (/** @type {z.infer<typeof Contact>} */ { name }) => Number(hasWords(name, words));
    const inOrder = found.sort((one, other) => isBetter(other) - isBetter(one) || byName(one, other));
    return { total: found.length, contacts: inOrder.slice(skip, skip + limit) };
  }

  /** @param {number} id */
  get(id) {
    return this.#contacts.get(id);
  }

  all() {
    return [...this.#contacts.values()];
  }

  ids() {
    return [...this.#contacts.keys()].map(String);
  }

  /**
   * @param {string} start
   * @param {number} limit
   */
  named(start, limit) {
    const named = this.all().filter(({ name }) => name.toLowerCase().startsWith(start.toLowerCase()));
    return named.sort(byName).slice(0, limit);
  }

  /** @param {z.infer<typeof NewContact>} contact */
  add(contact) {
    this.#lastId += 1;
    const added = { id: this.#lastId, ...contact };
    this.#contacts.set(added.id, added);
    return added;
  }

  /** @param {readonly z.infer<typeof NewContact>[]} contacts */
  addAll(contacts) {
    for (const contact of contacts) this.add(contact);
  }

  /**
   * @param {number} id
   * @param {z.infer<typeof Changes>} changes
   */
  update(id, changes) {
    const contact = this.#contacts.get(id);
    if (contact === undefined) return undefined;
    const { name = contact.name, email = contact.email, phone = contact.phone } = changes;
    const { company = contact.company, notes = contact.notes } = changes;
    const changed = { id, name, email, phone, company, notes };
    this.#contacts.set(id, changed);
    return changed;
  }

  /** @param {number} id */
  delete(id) {
    this.#contacts.delete(id);
  }

  deleteAll() {
    const ids = [...this.#contacts.keys()];
    this.#contacts.clear();
    return ids;
  }
}

/**
 * Whether every word begins some word of the text.
 *
 * @param {string} text
 * @param {readonly string[]} words
 */
function hasWords(text, words) {
  const present = wordsOf(text);
  return words.every((word) => present.some((other) => other.startsWith(word)));
}

/** @param {string} text */
function wordsOf(text) {
  const plain = text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** @param {z.infer<typeof Contact>} contact */
function textOf({ name, email, phone, company, notes }) {
  return [name, email, phone, company, notes].join("\n");
}

/**
 * @param {z.infer<typeof Contact>} one
 * @param {z.infer<typeof Contact>} other
 */
function byName(one, other) {
  if (one.name === other.name) return one.id - other.id;
  return one.name < other.name ? -1 : 1;
}
