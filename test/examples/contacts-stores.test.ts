import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryStore } from "../../examples/contacts/memory-store.js";
import { SqliteStore } from "../../examples/contacts/sqlite-store.js";
import { runs } from "../testing/forms.js";

const folder = join(import.meta.dirname, "../../examples/contacts");

const name = fc.constantFrom(
  "Ada",
  "ada lovelace",
  "Émilie",
  "emilie du Châtelet",
  "李小龍",
  "O'Neil",
  "Δομος",
  "a-b c_d",
  "Z",
);
const words = fc.constantFrom("", " ", "ada", "EMILIE", "lo ad", "du", "李", "?!", "NEAR(", "δομ", "b", "c", "x@y");
const contact = fc.record({
  name,
  email: fc.constantFrom("", "x@y.example"),
  phone: fc.constant(""),
  company: fc.constantFrom("", "Ada & Co"),
  notes: fc.constantFrom("", "knows\nLovelace"),
});
const id = fc.integer({ min: 1, max: 6 });

type Store = MemoryStore | SqliteStore;
type Step = (store: Store) => unknown;

const step: fc.Arbitrary<Step> = fc.oneof(
  contact.map(
    (added): Step =>
      (store) =>
        store.add(added),
  ),
  fc.array(contact, { maxLength: 3 }).map(
    (added): Step =>
      (store) =>
        store.addAll(added),
  ),
  fc.tuple(id, contact, fc.subarray(["name", "email", "notes"] as const)).map(([id, { ...all }, keys]): Step => {
    return (store) => store.update(id, Object.fromEntries(keys.map((key) => [key, all[key]])));
  }),
  id.map(
    (id): Step =>
      (store) =>
        store.delete(id),
  ),
  fc.constant<Step>((store) => store.deleteAll().sort()),
  id.map(
    (id): Step =>
      (store) =>
        store.get(id),
  ),
  name.map(
    (name): Step =>
      (store) =>
        store.named(name.slice(0, 2), 2),
  ),
  fc.constant<Step>((store) => [store.all(), store.ids()]),
  fc.nat(3).map(
    (skip): Step =>
      (store) =>
        store.search({ query: "", limit: 2, skip }),
  ),
  // Which one is the best is a matter of taste.
  words.map(
    (query): Step =>
      (store) => {
        const { total, contacts } = store.search({ query, limit: 100, skip: 0 });
        return [total, contacts.sort((one, other) => one.id - other.id)];
      },
  ),
);

test("a store in memory says what SQLite says", () => {
  fc.assert(
    fc.property(fc.array(contact, { maxLength: 4 }), fc.array(step, { maxLength: 12 }), (first, steps) => {
      const memory = new MemoryStore();
      const sqlite = new SqliteStore();
      try {
        for (const store of [memory, sqlite]) store.addAll(first);
        for (const step of steps) expect(step(memory)).toEqual(step(sqlite));
      } finally {
        sqlite.close();
      }
    }),
    { numRuns: runs(300) },
  );
});

test("only the program, the folder and SQLite need Node", () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".js"));
  const needing = files.filter((file) => {
    const source = readFileSync(join(folder, file), "utf8");
    const imports = [...source.matchAll(/^import .* from "(.*)";$/gm)].map(([, specifier = ""]) => specifier);
    return imports.some((name) => isBuiltin(name) || name === "@parlance/mcp/node" || name === "node-sqlite3-wasm");
  });
  expect(needing.sort()).toEqual(["folder.js", "server.js", "sqlite-store.js"]);
});
