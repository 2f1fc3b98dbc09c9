import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CallToolResult } from "@parlance/mcp";
import { type Client, type ClientOptions, connect } from "@parlance/mcp/client";
import { type Command, childChannel } from "@parlance/mcp/node";
import { type RawPeer, rawPeer } from "@parlance/mcp/testing";
import { createContacts } from "../../examples/contacts/contacts.js";
import { people } from "../../examples/contacts/people.js";
import { SqliteStore } from "../../examples/contacts/sqlite-store.js";
import { watchedServer } from "../oracle/watched.js";
import { isLong } from "../testing/forms.js";

/** The example, as a program. */
const program: string = fileURLToPath(new URL("../../examples/contacts/server.js", import.meta.url));

/** How the server is started. */
export function contacts(...args: readonly string[]): Command {
  return { command: process.execPath, args: [program, ...args] };
}

/**
 * Starts the server, and speaks to it with our client. In the short form a server without arguments is one of this process: a process
 * takes a second to compile SQLite.
 */
export function openContacts(args: readonly string[] = [], options: ClientOptions = {}): Promise<Client> {
  if (!isLong && args.length === 0) {
    const store = new SqliteStore();
    store.addAll(people);
    return connect(createContacts(store), options);
  }
  return connect(() => watchedServer(childChannel(contacts(...args))), { timeout: 60_000, ...options });
}

/** Starts the server, and speaks to it frame by frame. */
export function rawContacts(...args: readonly string[]): RawPeer {
  return rawPeer(watchedServer(childChannel(contacts(...args))));
}

/** The structured result of a tool; in revisions that have none, its text says the same. */
export async function ask(client: Client, tool: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const result = await client.tools.call(tool, args);
  if (result.isError === true) throw new Error(textOf(result));
  return result.structuredContent ?? JSON.parse(textOf(result));
}

/** The text of a failed tool. */
export async function refusal(client: Client, tool: string, args: Record<string, unknown> = {}): Promise<string> {
  const result = await client.tools.call(tool, args);
  return result.isError === true ? textOf(result) : `no failure, but ${textOf(result)}`;
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
}

/** A folder that is gone when the test is over. */
export class Scratch implements Disposable {
  readonly path: string = realpathSync(mkdtempSync(join(tmpdir(), "contacts ")));

  /** Where a file of this folder is. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Writes a file. */
  write(name: string, text: string): void {
    writeFileSync(this.at(name), text);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
