import { basename } from "node:path";
import sqlite from "node-sqlite3-wasm";
import { StoreError } from "./store.js";

/** @import * as z from "zod" */
/** @import { Contact, Changes, NewContact } from "./contact.js" */
/** @import { Store } from "./store.js" */

const tables = `
  create table if not exists contacts (
    id integer primary key autoincrement, -- so that no number is used again
    name text not null, email text not null, phone text not null, company text not null, notes text not null
  ) strict;
  create virtual table if not exists contacts_text using fts5(
    name, email, phone, company, notes, content = 'contacts', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
  );
  create trigger if not exists contacts_added after insert on contacts begin
    insert into contacts_text (rowid, name, email, phone, company, notes)
      values (new.id, new.name, new.email, new.phone, new.company, new.notes);
  end;
  create trigger if not exists contacts_removed after delete on contacts begin
    insert into contacts_text (contacts_text, rowid, name, email, phone, company, notes)
      values ('delete', old.id, old.name, old.email, old.phone, old.company, old.notes);
  end;
  create trigger if not exists contacts_updated after update on contacts begin
    insert into contacts_text (contacts_text, rowid, name, email, phone, company, notes)
      values ('delete', old.id, old.name, old.email, old.phone, old.company, old.notes);
    insert into contacts_text (rowid, name, email, phone, company, notes)
      values (new.id, new.name, new.email, new.phone, new.company, new.notes);
  end;
`;

/** Milliseconds to wait for another process that uses the same file. Nothing else runs meanwhile. */
const patience = 1_000;

/** Errors of SQLite that are not the fault of the statement. */
const surroundings = /readonly|full|disk I\/O|not a database|malformed|Could not open|unable to open/;

/**
 * Contacts in SQLite, in a file or in memory.
 *
 * @implements {Store}
 */
export class SqliteStore {
  #database;
  #name;

  /**
   * @param {string} [file] default: in memory
   * @throws {StoreError} for a file that cannot be opened
   */
  constructor(file) {
    this.#name = file === undefined ? "memory" : basename(file);
    this.#database = this.#readably(() => new sqlite.Database(file));
    this.#readably(() => {
      this.#database.exec(`pragma busy_timeout = ${patience}`);
      this.#atOnce(() => this.#database.exec(tables));
    });
  }

  /** @param {{ query: string, limit: number, skip: number }} page */
  search({ query, limit, skip }) {
    const words = matchOf(query);
    // A text without a word, such as "?!", matches no contact.
    if (words === "" && query.trim() !== "") return { total: 0, contacts: [] };
    const [from, order, values] =
      words === ""
        ? ["contacts", "name, id", []]
        : ["contacts_text join contacts on id = contacts_text.rowid where contacts_text match ?", "rank, id", [words]];
    const [count] = this.#rows(`select count(*) as total from ${from}`, values);
    const page = `select contacts.* from ${from} order by ${order} limit ? offset ?`;
    return { total: Number(count?.total), contacts: this.#contacts(page, [...values, limit, skip]) };
  }

  /** @param {number} id */
  get(id) {
    return this.#contacts("select * from contacts where id = ?", [id])[0];
  }

  all() {
    return this.#contacts("select * from contacts order by id", []);
  }

  ids() {
    return this.#rows("select id from contacts order by id", []).map(({ id }) => `${id}`);
  }

  /**
   * @param {string} start
   * @param {number} limit
   */
  named(start, limit) {
    const sql =
      "select * from contacts where lower(substr(name, 1, length(?1))) = lower(?1) order by name, id limit ?2";
    return this.#contacts(sql, [start, limit]);
  }

  /** @param {z.infer<typeof NewContact>} contact */
  add({ name, email, phone, company, notes }) {
    const sql = "insert into contacts (name, email, phone, company, notes) values (?, ?, ?, ?, ?) returning *";
    const [added] = this.#contacts(sql, [name, email, phone, company, notes]);
    if (added === undefined) throw new Error("SQLite returned no row for a contact that it added");
    return added;
  }

  /** @param {readonly z.infer<typeof NewContact>[]} contacts */
  addAll(contacts) {
    this.#readably(() => this.#atOnce(() => contacts.map((contact) => this.add(contact))));
  }

  /**
   * @param {number} id
   * @param {z.infer<typeof Changes>} changes
   */
  update(id, changes) {
    const { name = null, email = null, phone = null, company = null, notes = null } = changes;
    const set = ["name", "email", "phone", "company", "notes"].map((field) => `${field} = coalesce(?, ${field})`);
    const sql = `update contacts set ${set.join(", ")} where id = ? returning *`;
    return this.#contacts(sql, [name, email, phone, company, notes, id])[0];
  }

  /** @param {number} id */
  delete(id) {
    this.#rows("delete from contacts where id = ?", [id]);
  }

  deleteAll() {
    return this.#rows("delete from contacts returning id", []).map(({ id }) => Number(id));
  }

  close() {
    this.#database.close();
  }

  /**
   * @param {string} sql
   * @param {(string | number | null)[]} values
   */
  #contacts(sql, values) {
    // The columns of the table are the fields of a contact.
    return /** @type {z.infer<typeof Contact>[]} */ (/** @type {unknown} */ (this.#rows(sql, values)));
  }

  /**
   * @param {string} sql
   * @param {(string | number | null)[]} values
   */
  #rows(sql, values) {
    return this.#readably(() => this.#database.all(sql, values));
  }

  /**
   * Nothing may be awaited in here: the calls of all clients share this connection, and with it the transaction.
   *
   * @param {() => unknown} work
   */
  #atOnce(work) {
    this.#database.exec("begin immediate");
    try {
      work();
      this.#database.exec("commit");
    } finally {
      if (this.#database.inTransaction) this.#database.exec("rollback");
    }
  }

  /**
   * @template Value
   * @param {() => Value} work
   */
  #readably(work) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof sqlite.SQLite3Error)) throw error;
      const isBusy = error.message.includes("locked");
      if (!isBusy && !surroundings.test(error.message)) throw error;
      const problem = isBusy
        ? `another program is using it. Try again; if there is none, remove ${this.#name}.lock`
        : error.message;
      throw new StoreError(`${this.#name}: ${problem}`, { cause: error });
    }
  }
}

/**
 * The query as FTS5 wants it. Only words are left, and those in quotes, so that nothing in it is taken for an operator.
 * https://www.sqlite.org/fts5.html#full_text_query_syntax
 *
 * @param {string} query
 */
function matchOf(query) {
  const words = query.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.map((word) => `"${word}"*`).join(" ");
}
