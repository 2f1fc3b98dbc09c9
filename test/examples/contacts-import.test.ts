import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { latest, latestHandshake } from "@parlance/mcp";
import { describe, expect, test } from "vitest";
import { ask, openContacts, refusal, Scratch } from "./contacts-client.js";

const many = `name,email\n${Array.from({ length: 5_000 }, (_, index) => `Person ${index},p${index}@example.com\n`).join("")}`;
const wrong = "Nothing is imported: correct this, and import all again\n";

describe.each([latest.version, latestHandshake.version])("an import in %s", (revision) => {
  test("reports its progress, and no other call sees half of it", async () => {
    await using client = await openContacts([], { revision });
    const told: number[] = [];
    const meanwhile: Promise<unknown>[] = [];
    const onProgress = ({ progress }: { readonly progress: number }): void => {
      told.push(progress);
      if (progress % 1_000 === 100) meanwhile.push(ask(client, "search_contacts", { limit: 1 }));
    };
    const { structuredContent } = await client.tools.call("import_contacts", { csv: many }, { onProgress });
    expect(structuredContent).toEqual({ imported: 5_000 });
    expect(told).toEqual(Array.from({ length: 50 }, (_, index) => (index + 1) * 100));
    const totals = (await Promise.all(meanwhile)).map((answer) => (answer as { readonly total: number }).total);
    expect(totals).toHaveLength(5);
    expect(totals.filter((total) => total !== 4 && total !== 5_004)).toEqual([]); // The last ones may come after the import.
    expect(await ask(client, "search_contacts")).toMatchObject({ total: 5_004 });
  });

  test("that is cancelled changes nothing", async () => {
    await using client = await openContacts([], { revision });
    const controller = new AbortController();
    const cancelled = client.tools.call(
      "import_contacts",
      { csv: many.split("\n").slice(0, 501).join("\n") },
      { signal: controller.signal, onProgress: () => controller.abort() },
    );
    await expect(cancelled).rejects.toMatchObject({ reason: "cancelled" });
    // Takes ten times as long as what is left of the other would.
    expect(await ask(client, "import_contacts", { csv: many })).toEqual({ imported: 5_000 });
    expect(await ask(client, "search_contacts")).toMatchObject({ total: 5_004 });
  });
});

test("a CSV may have quotes, line ends of any kind, columns in any order, and a byte order mark", async () => {
  await using client = await openContacts();
  const csv = '\uFEFFNotes, Name\r\n"two\r\nlines, and a ""quote""",  Grace Hopper \r\n\r\n,李小龍\r\n';
  expect(await ask(client, "import_contacts", { csv })).toEqual({ imported: 2 });
  expect(await ask(client, "get_contact", { id: 5 })).toMatchObject({
    name: "Grace Hopper",
    notes: 'two\r\nlines, and a "quote"',
    email: "",
  });
  expect(await ask(client, "get_contact", { id: 6 })).toMatchObject({ name: "李小龍" });
});

test("what is read as CSV can be imported, and comes back as it was", async () => {
  await using client = await openContacts();
  await ask(client, "add_contact", { name: '"; drop table contacts', notes: '1,2\n"3"', company: "\u00e9🎉" });
  const read = async (): Promise<string> => {
    const { contents } = await client.call("resources/read", { uri: "contacts:/all" });
    const [content] = contents as readonly { readonly text: string }[]; // What the protocol says.
    return content?.text ?? "";
  };
  const before = await read();
  expect(before).toMatch(/^name,email,phone,company,notes\r\nAda Lovelace,ada@example.com,,/);
  await ask(client, "delete_all_contacts", { confirm: true });
  expect(await read()).toBe("name,email,phone,company,notes\r\n");
  expect(await ask(client, "import_contacts", { csv: before })).toEqual({ imported: 5 });
  expect(await read()).toBe(before);
});

test.each([
  [
    "a bad field",
    "name,email\nAda,ada@example.com\nBob,bob\n,x@example.com\n",
    [/^line 3, email: /, /^line 4, name: may not be empty$/],
  ],
  ["a row that is too short", "name,email\nAda,\nBob\n", [/^line 3: the fields are 1, and the columns 2$/]],
  ["a quote that is not closed", 'name\nAda\n"Bob\n', [/^line 3: a quote is not closed/]],
  [
    "something behind a quote",
    'name\n"two\nlines"\n"Bob" Smith\n',
    [/^line 4: a quote is not closed, or not at the end/],
  ],
  [
    "an unknown column",
    "name;email\nAda;\n",
    [/^line 1: "name;email" is no column, or is there twice\. The columns are name, /],
  ],
  ["a column that is there twice", "name,Name\na,b\n", [/^line 1: "name" is no column, or is there twice\./]],
  ["no names", "email\na@example.com\n", [/^line 1: the column name is missing\./]],
])("a CSV with %s changes nothing, and the answer names the place", async (_name, csv, lines) => {
  await using client = await openContacts();
  const words = await refusal(client, "import_contacts", { csv });
  expect(words.slice(0, wrong.length)).toBe(wrong);
  expect(words.slice(wrong.length).split("\n")).toEqual(lines.map((line) => expect.stringMatching(line) as unknown));
  expect(await ask(client, "search_contacts")).toMatchObject({ total: 4 });
});

test("a CSV that is all wrong, or too long, is not read to its end", async () => {
  await using client = await openContacts();
  const bad = await refusal(client, "import_contacts", { csv: `name\n${'""\n'.repeat(500)}` });
  expect(bad.split("\n")).toHaveLength(1 + 20);
  expect(await refusal(client, "import_contacts", { csv: `name\n${"x\n".repeat(20_001)}` })).toBe(
    "Nothing is imported: there are more than 20000 rows. Split them",
  );
  expect(await refusal(client, "import_contacts", { csv: "x".repeat(1_000_001) })).toContain("/csv: ");
});

describe("a file", () => {
  test("of the folder is imported, and nothing else is read", async () => {
    using folder = new Scratch();
    using outside = new Scratch();
    folder.write("people.csv", "name\nGrace\n");
    outside.write("secret.csv", "name\ns3cret\n");
    mkdirSync(folder.at("inner"));
    symlinkSync(outside.path, folder.at("link"));
    symlinkSync(folder.at("people.csv"), folder.at("alias.csv"));
    await using client = await openContacts(["--import-from", folder.path]);
    for (const path of ["people.csv", "./inner/../people.csv", "alias.csv", folder.at("people.csv")]) {
      expect(await ask(client, "import_contacts", { path })).toEqual({ imported: 1 });
    }
    for (const path of ["nothing.csv", outside.at("secret.csv"), "link/secret.csv", "..", "/etc/passwd", "a\0b"]) {
      expect(await refusal(client, "import_contacts", { path })).toBe(
        `There is no file ${path} in the folder for imports`,
      );
    }
    expect(await refusal(client, "import_contacts", { path: "inner" })).toBe("inner is not a file");
    folder.write("large.csv", `name\n${"x".repeat(11 * 1024 * 1024)}`);
    expect(await refusal(client, "import_contacts", { path: "large.csv" })).toBe(
      "large.csv has more than 10485760 bytes: split it",
    );
    for (const args of [{}, { csv: "name\nx\n", path: "people.csv" }]) {
      expect(await refusal(client, "import_contacts", args)).toContain("needs csv or path, and not both");
    }
    expect(await ask(client, "search_contacts", { query: "s3cret" })).toMatchObject({ total: 0 });
  });

  test.skipIf(process.platform === "win32")("that is a pipe is not waited for", async () => {
    using folder = new Scratch();
    execFileSync("mkfifo", [folder.at("pipe")]);
    await using client = await openContacts(["--import-from", folder.path]);
    expect(await refusal(client, "import_contacts", { path: "pipe" })).toBe("pipe is not a file");
  });

  test("cannot be named where no folder was", async () => {
    await using client = await openContacts();
    expect(await refusal(client, "import_contacts", { path: "people.csv" })).toContain("/csv: ");
  });
});
