import { fileURLToPath } from "node:url";
import type { CallToolResult } from "@parlance/mcp";
import { type Client, type ClientCallOptions, type ClientOptions, connect } from "@parlance/mcp/client";
import type { Channel } from "@parlance/mcp/jsonrpc";
import { type Command, childChannel } from "@parlance/mcp/node";
import { watchedServer } from "../oracle/watched.js";
import { type Folder, home } from "./repository.js";

/** The example, as a program. */
export const program: string = fileURLToPath(new URL("../../examples/git-server/server.js", import.meta.url));

/** A conversation with the git server about one repository. */
export class GitClient implements AsyncDisposable {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /** The structured result of a tool; in revisions that have none, its text says the same. */
  async ask(tool: string, args: Record<string, unknown> = {}, options: ClientCallOptions = {}): Promise<unknown> {
    const result = await this.client.tools.call(tool, args, options);
    if (result.isError === true) throw new Error(textOf(result));
    return result.structuredContent ?? JSON.parse(textOf(result));
  }

  /** The text of a failed tool. */
  async refusal(tool: string, args: Record<string, unknown> = {}): Promise<string> {
    const result = await this.client.tools.call(tool, args);
    return result.isError === true ? textOf(result) : `no failure, but ${textOf(result)}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client.close();
  }
}

/** How the server is started for a folder. Whoever runs the tests has a configuration of git; it is not found. */
export function commandFor(folder: Folder, env: Record<string, string> = {}): Command {
  return { command: process.execPath, args: [program, folder.path], env: { HOME: home, ...env } };
}

/** Starts the server for a folder. */
export async function openServer(
  folder: Folder,
  { env, ...options }: ClientOptions & Pick<Command, "env"> = {},
): Promise<GitClient> {
  const dial = (): Channel => watchedServer(childChannel(commandFor(folder, env)));
  return new GitClient(await connect(dial, { timeout: 60_000, ...options }));
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
}
