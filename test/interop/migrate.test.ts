import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { latest, latestHandshake } from "@parlance/mcp";
import { type Client, connect, textOf } from "@parlance/mcp/client";
import { connectStdio } from "@parlance/mcp/node";
import { transformSync } from "rolldown/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// A page on migration shows one program twice: as it is written with another library, in a `typescript` fence, and with this
// one, in a `ts` fence. Both run here, and a client sees the same. The other libraries are installed by
// `npm ci --prefix test/interop`; without them these tests are skipped.

const root = join(import.meta.dirname, "../..");
const programs = join(import.meta.dirname, "migrate");
// The libraries that came last: an older installation lacks them.
const isInstalled = ["fastmcp", "jayson"].every((name) => existsSync(join(import.meta.dirname, "node_modules", name)));
const run = promisify(execFile);
const { execPath: node } = process;
let folder = "";

/** The programs of a page: the file that is shown for the other library, and the code for this one. */
async function readPage(library: string): Promise<{ readonly before: string; readonly after: string }> {
  const page = await readFile(join(root, `docs/migrate/${library}.md`), "utf8");
  const [, before = ""] = /```typescript\n(.*?)```/s.exec(page) ?? [];
  const [, after = ""] = /```ts\n(.*?)```/s.exec(page) ?? [];
  return { before, after };
}

const before = (library: string): string => join(programs, `${library}.js`);
const after = (library: string): string => join(folder, `${library}.js`);

const libraries = (await readdir(programs)).map((name) => basename(name, ".js"));

beforeAll(async () => {
  folder = await mkdtemp(join(root, "test", ".snippets-")); // Inside the repository, so that its packages are found.
  for (const library of libraries) {
    const { code } = transformSync(`${library}.ts`, (await readPage(library)).after);
    await writeFile(after(library), code);
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(libraries)("the page on %s shows the program that runs here", async (library) => {
  expect((await readPage(library)).before).toBe(await readFile(before(library), "utf8"));
});

/** The lists and results of a server of notes. */
async function tour(client: Client): Promise<object> {
  const tools = await client.tools.list().all();
  const call = async (name: string, args: object): Promise<object> => {
    const result = await client.tools.call(name, { ...args });
    return { text: textOf(result), isError: result.isError ?? false, structured: result.structuredContent };
  };
  const removable = tools.some(({ name }) => name === "remove_note");
  const { contents } = await client.resources.read("note:///tea");
  const { messages } = await client.prompts.get("summarize", { tone: "kind" });
  return {
    tools: tools.map(({ name, description, inputSchema: { properties, required } }) => ({
      name,
      description,
      properties,
      required,
    })),
    added: await call("add_note", { name: "milk", text: "Buy milk" }),
    ...(removable && {
      removed: await call("remove_note", { name: "milk" }),
      missing: await call("remove_note", { name: "milk" }),
    }),
    resources: (await client.resources.list().all()).map(({ uri, name }) => ({ uri, name })),
    templates: (await client.resources.templates().all()).map(({ uriTemplate, name }) => ({ uriTemplate, name })),
    contents: contents.map(({ uri, mimeType, ...rest }) => ({
      uri,
      mimeType,
      text: "text" in rest ? rest.text : undefined,
    })),
    prompts: (await client.prompts.list().all()).map(({ name, arguments: args }) => ({
      name,
      args: args?.map((each) => ({ name: each.name, required: each.required })),
    })),
    messages,
  };
}

async function tourOverStdio(program: string, revision: string): Promise<object> {
  await using client = await connectStdio({ command: node, args: [program] }, { revision });
  return await tour(client);
}

/** The tour of a module that exports a function from a request to its response. */
async function tourOfHandler(program: string, revision: string): Promise<object> {
  const { handle }: { handle: (request: Request) => Promise<Response> } = await import(program);
  const fetch: typeof globalThis.fetch = (input, init) => handle(new Request(input, init));
  await using client = await connect("http://localhost/mcp", { revision, fetch });
  return await tour(client);
}

describe.skipIf(!isInstalled)("a client sees the same before and after the migration", () => {
  test.each([
    ["sdk-v1", latestHandshake.version],
    ["sdk-v2", latestHandshake.version],
    ["sdk-v2", latest.version],
    ["fastmcp", latestHandshake.version],
  ])("from %s, in %s", async (library, revision) => {
    const seen = await tourOverStdio(before(library), revision);
    expect(await tourOverStdio(after(library), revision)).toEqual(seen);
    expect(seen).toMatchObject({ missing: { isError: true, text: "There is no note milk" } });
  });

  test("from mcp-lite, in 2025-06-18", async () => {
    const seen = await tourOfHandler(before("mcp-lite"), "2025-06-18");
    expect(await tourOfHandler(after("mcp-lite"), "2025-06-18")).toEqual(seen);
    expect(seen).toMatchObject({ added: { text: "2 notes" } });
  });

  test.each(["jayson", "vscode-jsonrpc"])("from %s, which prints it", async (library) => {
    const { stdout } = await run(node, [before(library)]);
    expect(await run(node, [after(library)])).toEqual({ stdout, stderr: "" });
    expect(stdout).toContain("0.25\n1001 Division by zero\n");
  });
});
