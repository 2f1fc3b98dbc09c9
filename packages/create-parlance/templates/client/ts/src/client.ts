import { type Client, type ConnectOptions, connect, textOf } from "@parlance/mcp/client";
import { connectStdio } from "@parlance/mcp/node";

// This module is the client without its terminal, so that tests can import it.

/** Connects to a URL, or to a server that a command starts, such as `node server.js`. The newest common revision is negotiated. */
export function open(target: string, handlers: NonNullable<ConnectOptions["handlers"]> = {}): Promise<Client> {
  const options = { info: { name: "my-project", version: "0.1.0" }, handlers };
  if (/^https?:/.test(target)) return connect(target, options);
  const [command = "", ...args] = target.split(" ");
  return connectStdio({ command, args }, options);
}

/** One line for each tool. */
export async function toolLines(client: Client): Promise<string[]> {
  const lines: string[] = [];
  for await (const { name, description = "" } of client.tools.list()) lines.push(`${name}: ${description}`);
  return lines;
}

/** Calls a tool, and returns the text of its result. @throws Error with this text if the tool failed */
export async function callTool(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const result = await client.tools.call(name, args, { timeout: 30_000 });
  if (result.isError === true) throw new Error(textOf(result));
  return textOf(result);
}
