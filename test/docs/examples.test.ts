import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSurface } from "../architecture/surface.js";

// Every @example of a public declaration is compiled, under `strict`, against the built declarations. An example may use
// public names without importing them, and the names of the table below, as a reader would understand them.

const root = join(import.meta.dirname, "../..");

/** Where names come from that the libraries do not export. */
const imports: Readonly<Record<string, string>> = {
  assert: 'import assert from "node:assert/strict";',
  http: 'import http from "node:http";',
  readFile: 'import { readFile } from "node:fs/promises";',
  writeFile: 'import { writeFile } from "node:fs/promises";',
  z: 'import * as z from "zod";',
};

/** Values that an example takes as given. */
const given = `
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { WriteStream } from "node:fs";
import type { Duplex } from "node:stream";
import type { Client } from "@parlance/mcp/client";
import type { Channel, Connection, Message, Service } from "@parlance/mcp/jsonrpc";
import type { Context, CreateMessageParams, Server } from "@parlance/mcp/server";
import type {
  CheckReport, Comparable, Conversation, Entry, EntryWriter, FrameEntry, HttpExchange, Rule, Verdict, WireMessage,
} from "@parlance/wire";
import type { Revision } from "@parlance/mcp/protocol";
declare global {
  const app: { all(path: string, handler: (request: IncomingMessage, response: ServerResponse) => unknown): void };
  const after: Conversation, before: Conversation, conversation: Conversation;
  const bytes: Uint8Array;
  const channel: Channel;
  const client: Client;
  const config: object;
  const connection: Connection;
  const ctx: Context;
  const database: { end(): Promise<void> };
  const Deno: { connect(to: { port: number }): Promise<{ readable: ReadableStream; writable: WritableStream }> };
  const error: Error;
  const entries: readonly Entry[];
  const exchange: HttpExchange;
  const file: WriteStream;
  const frame: FrameEntry;
  const httpsServer: HttpServer;
  const id: string, token: string, url: string;
  const incoming: IncomingMessage;
  const left: Comparable, right: Comparable;
  const logins: { once(id: string, listener: () => void): void };
  const message: Message;
  const messages: CreateMessageParams["messages"];
  const notes: ReadonlyMap<string, string>;
  const redis: { set(key: string, value: string, options: object): Promise<string | null> };
  const report: CheckReport;
  const request: WireMessage;
  const revision: Revision;
  const rule: Rule;
  const server: Server;
  const service: Service;
  const socket: Duplex;
  const verdicts: readonly Verdict[];
  const writer: EntryWriter;
}
`;

const options = {
  compilerOptions: {
    strict: true,
    target: "esnext",
    module: "nodenext",
    lib: ["esnext", "dom", "dom.iterable"],
    types: ["node"],
    noEmit: true,
    skipLibCheck: true,
  },
};

/** The text of every @example in the built declarations of a library. */
async function examplesOf(library: string): Promise<readonly string[]> {
  const folder = join(root, "packages", library, "dist");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".d.ts"));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return texts
    .flatMap((text) => text.match(/\/\*\*.*?\*\//gs) ?? [])
    .map((comment) => comment.slice(3, -2).replace(/^[ \t]*\* ?/gm, ""))
    .flatMap((comment) => [...comment.matchAll(/@example\n(?<code>.*?)(?=\n\s*@|$)/gs)])
    .map(({ groups }) => groups?.code?.trim() ?? "");
}

const surface = readSurface(root).flatMap(({ specifier, names }) =>
  names.filter(({ home }) => home === specifier).map(({ name }) => [name, specifier] as const),
);

/** An example as a module: the names that it uses are imported, and its own are local to a function. */
function moduleOf(code: string): string {
  const words = new Set(code.match(/\w+/g));
  const own = surface
    .filter(([name]) => words.has(name))
    .map(([name, specifier]) => `import { ${name} } from "${specifier}";`);
  const others = Object.entries(imports).flatMap(([name, line]) => (words.has(name) ? [line] : []));
  const isModule = /^export /m.test(code);
  const body = isModule ? code : `export async function example() {\n${code}\n}`;
  return [...own, ...others, body, ""].join("\n");
}

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(root, "test", ".snippets-")); // Inside the repository, so that its packages are found.
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test("the examples of the doc comments compile under strict", { timeout: 600_000 }, async () => {
  const examples = (await Promise.all(["mcp", "wire"].map(examplesOf))).flat();
  expect(examples.length).toBeGreaterThan(140);
  const files = {
    ...Object.fromEntries(examples.map((code, index) => [`example-${index}.ts`, moduleOf(code)])),
    "given.d.ts": given,
    "wrong.ts": moduleOf('createServer({ nme: "adder", version: "1.0.0" });'),
    "tsconfig.json": JSON.stringify(options),
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  const faults = await compile(folder);
  const shown = faults.map((fault) => `${fault}\n${files[fault.split("(")[0] as keyof typeof files] ?? ""}`);
  expect(shown.filter((fault) => !fault.startsWith("wrong.ts"))).toEqual([]);
  expect(faults, "the compiler has seen the examples").toEqual([expect.stringMatching(/^wrong\.ts.*'nme'/)]);
});

/** The lines in which the compiler names a fault. */
function compile(project: string): Promise<readonly string[]> {
  const compiler = join(root, "node_modules/.bin/tsc");
  return new Promise((resolve) => {
    execFile(compiler, ["-p", ".", "--pretty", "false"], { cwd: project }, (_error, stdout) => {
      resolve(stdout.split("\n").filter((line) => /^\S+\(\d+,\d+\): error/.test(line)));
    });
  });
}
