import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { type CompletionReference, latest, latestHandshake, versions } from "@parlance/mcp";
import type { Client } from "@parlance/mcp/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inForm } from "../testing/forms.js";
import { ask, contacts, openContacts, refusal, Scratch } from "./contacts-client.js";

describe.each(inForm({ long: versions, short: [latestHandshake.version, latest.version] }))(
  "the contacts server in %s",
  (revision) => {
    test("finds, shows, adds, changes and deletes contacts", async () => {
      await using client = await openContacts([], { revision });
      expect(await ask(client, "search_contacts", { query: "analytic ada" })).toMatchObject({
        total: 1,
        contacts: [{ id: 1, name: "Ada Lovelace" }],
      });
      const ada = { email: "ada@example.com", company: "Analytical Engines", phone: "", notes: "Writes programs" };
      expect(await ask(client, "get_contact", { id: 1 })).toEqual({ id: 1, name: "Ada Lovelace", ...ada });
      const grace = { name: "Grace Hopper", email: "", phone: "", company: "Navy", notes: "" };
      expect(await ask(client, "add_contact", { name: " Grace Hopper ", company: "Navy" })).toEqual({
        id: 5,
        ...grace,
      });
      expect(await ask(client, "update_contact", { id: 5, notes: "Compiles", company: "" })).toEqual({
        id: 5,
        ...grace,
        company: "",
        notes: "Compiles",
      });
      expect(await ask(client, "search_contacts", { query: "navy" })).toEqual({ total: 0, contacts: [] });
      expect(await ask(client, "search_contacts", { query: "compiles" })).toMatchObject({ total: 1 });
      expect(await refusal(client, "delete_contact", { id: 5 })).toBe(
        "Nothing is deleted: this client cannot ask a person. Ask them yourself, then call again with confirm: true",
      );
      expect(await ask(client, "delete_contact", { id: 5, confirm: true })).toEqual({ deleted: 1 });
      for (const tool of ["get_contact", "update_contact", "delete_contact"]) {
        expect(await refusal(client, tool, { id: 5 })).toBe("There is no contact 5: search_contacts shows the ids");
      }
      // The number of a contact that is gone is not given to another.
      expect(await ask(client, "add_contact", { name: "Next" })).toMatchObject({ id: 6 });
      expect(await refusal(client, "delete_all_contacts")).toMatch(/^Nothing is deleted: this client/);
      expect(await ask(client, "delete_all_contacts", { confirm: true })).toEqual({ deleted: 5 });
      expect(await ask(client, "delete_all_contacts")).toEqual({ deleted: 0 });
      expect(await ask(client, "search_contacts")).toEqual({ total: 0, contacts: [] });
    });

    test("has contacts to read, and a letter to write", async () => {
      await using client = await openContacts([], { revision });
      const { contents } = await client.call("resources/read", { uri: "contacts:/1" });
      expect(contents).toMatchObject([
        { mimeType: "application/json", text: expect.stringContaining('"Ada Lovelace"') },
      ]);
      const { resources } = await client.call("resources/list");
      expect(resources).toMatchObject([
        { uri: "contacts:/all" },
        { uri: "contacts:/1", name: "Ada Lovelace" },
        { uri: "contacts:/2" },
        { uri: "contacts:/4", name: "Srinivasa Ramanujan" },
        { uri: "contacts:/3", name: "Émilie du Châtelet" },
      ]);
      for (const uri of ["contacts:/9", "contacts:/x", "contacts:/1%20or%201=1", "contacts:/9999999999999999999"]) {
        await expect(client.call("resources/read", { uri })).rejects.toMatchObject({ name: "RpcError" });
      }
      const args = { name: "Ada Lovelace", about: "tea" };
      const { messages } = await client.call("prompts/get", { name: "write_to", arguments: args });
      expect(messages).toMatchObject([{ content: { text: expect.stringContaining("ada@example.com") } }]);
      await expect(
        client.call("prompts/get", { name: "write_to", arguments: { ...args, name: "Nobody" } }),
      ).rejects.toMatchObject({ code: -32602, message: "There is no contact called Nobody" });
    });
  },
);

test("names and ids are completed", async () => {
  await using client = await openContacts();
  const complete = async (ref: CompletionReference, name: string, value: string): Promise<unknown> => {
    const { completion } = await client.call("completion/complete", { ref, argument: { name, value } });
    return completion.values;
  };
  const prompt = { type: "ref/prompt", name: "write_to" } as const;
  expect(await complete(prompt, "name", "ch")).toEqual(["Charles Babbage"]);
  expect(await complete(prompt, "name", "%")).toEqual([]);
  const template = { type: "ref/resource", uri: "contacts:/{id}" } as const;
  expect(await complete(template, "id", "")).toEqual(["1", "2", "3", "4"]);
  expect(await complete(template, "id", "3")).toEqual(["3"]);
});

describe("a search", () => {
  /** Shared by the searches that change nothing: a process each would take most of their time. */
  const opened: Client[] = [];
  const added = ["李小龍", "Ωμέγα 🎉", "O'Neil'); drop table contacts; --"];

  beforeAll(async () => {
    const [plain, filled] = await Promise.all([openContacts(), openContacts()]);
    opened.push(plain, filled);
    for (const name of added) expect(await ask(filled, "add_contact", { name })).toMatchObject({ name });
  });

  afterAll(async () => {
    for (const client of opened) await client.close();
  });

  test.each([
    '"',
    '""',
    "NEAR(ada",
    "AND",
    "*",
    "^zzz:",
    "name:x OR y",
    "-",
    "(",
    "\0",
    "?!",
    "q\0z",
    "'; drop table contacts; --",
  ])("for %j is no syntax error, and finds nothing", async (query) => {
    const client = opened[0] as Client;
    expect(await ask(client, "search_contacts", { query })).toEqual({ total: 0, contacts: [] });
    expect(await ask(client, "search_contacts")).toMatchObject({ total: 4 });
  });

  test.each([
    ["EMILIE", "Émilie du Châtelet"],
    ["e\u0301milie", "Émilie du Châtelet"],
    ["ada@example.com", "Ada Lovelace"],
    ['"lovelace" (ada)', "Ada Lovelace"],
    ["李", "李小龍"],
    ["Ωμέγα", "Ωμέγα 🎉"],
    ["o'neil", "O'Neil'); drop table contacts; --"],
  ])("for %j finds %s", async (query, name) => {
    const client = opened[1] as Client;
    expect(await ask(client, "search_contacts", { query })).toMatchObject({ total: 1, contacts: [{ name }] });
  });

  test("has pages, and bounds", async () => {
    await using client = await openContacts();
    const page = { total: 4, contacts: [{ name: "Charles Babbage" }, { name: "Srinivasa Ramanujan" }] };
    expect(await ask(client, "search_contacts", { limit: 2, skip: 1 })).toMatchObject(page);
    expect(await ask(client, "search_contacts", { query: "a", limit: 1, skip: 1 })).toMatchObject({
      total: 2,
      contacts: [{}],
    });
    for (const args of [{ query: "x".repeat(10_000) }, { limit: 1_000 }, { skip: -1 }, { like: "x" }]) {
      expect(await refusal(client, "search_contacts", args)).toMatch(/^Invalid arguments for tool search_contacts:\n/);
    }
    expect(await ask(client, "search_contacts", { query: "\"*' ".repeat(50) })).toMatchObject({ total: 0 });
  });
});

test.each([
  ["an empty name", { name: " " }, "/name: may not be empty"],
  ["a name with NUL", { name: "a\0b" }, "/name: may not hold the character NUL"],
  ["no e-mail address", { name: "a", email: "a at b" }, "/email: "],
  ["long notes", { name: "a", notes: "n".repeat(10_001) }, "/notes: "],
  ["an unknown field", { name: "a", rank: 1 }, 'Unrecognized key: "rank"'],
])("a contact with %s is refused, and told why", async (_name, contact, words) => {
  await using client = await openContacts();
  expect(await refusal(client, "add_contact", contact)).toContain(words);
});

describe("a file", () => {
  test("keeps contacts from one run to the next", async () => {
    using folder = new Scratch();
    const file = folder.at("Käse & brot.db");
    {
      await using client = await openContacts(["--file", file]);
      expect(await ask(client, "search_contacts")).toEqual({ total: 0, contacts: [] });
      await ask(client, "add_contact", { name: "Ada" });
      await client.close();
    }
    await using client = await openContacts(["--file", file], { revision: versions.at(-1) ?? latest.version });
    expect(await ask(client, "search_contacts", { query: "ada" })).toMatchObject({
      contacts: [{ id: 1, name: "Ada" }],
    });
  });

  test("is shared by two processes, and nothing that either writes is lost", async () => {
    using folder = new Scratch();
    const args = ["--file", folder.at("contacts.db")];
    await using one = await openContacts(args);
    await using other = await openContacts(args);
    const names = Array.from({ length: 20 }, (_, index) => `Person ${index}`);
    await Promise.all(names.flatMap((name) => [one, other].map((client) => ask(client, "add_contact", { name }))));
    expect(await ask(one, "search_contacts", { query: "person" })).toMatchObject({ total: 40 });
    expect(await ask(other, "search_contacts", { query: "person 7" })).toMatchObject({ total: 2 });
  });

  test("that another program uses is named, and works again afterwards", async () => {
    using folder = new Scratch();
    await using client = await openContacts(["--file", folder.at("contacts.db")]);
    // The lock of SQLite in WebAssembly.
    mkdirSync(folder.at("contacts.db.lock"));
    const busy = "contacts.db: another program is using it. Try again; if there is none, remove contacts.db.lock";
    expect(await refusal(client, "add_contact", { name: "Ada" })).toBe(busy);
    await expect(client.call("resources/read", { uri: "contacts:/all" })).rejects.toMatchObject({ message: busy });
    spawnSync("rmdir", [folder.at("contacts.db.lock")]);
    expect(await ask(client, "add_contact", { name: "Ada" })).toMatchObject({ id: 1 });
  });

  test("that is no database is left alone: the server says so and exits", () => {
    using folder = new Scratch();
    folder.write("letter.txt", "Dear Ada, this is not a database, but long enough to be looked at as if it were one.");
    const { command, args = [] } = contacts("--file", folder.at("letter.txt"));
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: "contacts: letter.txt: file is not a database\n",
    });
    expect(readFileSync(folder.at("letter.txt"), "utf8")).toMatch(/^Dear Ada/);
  });
});
