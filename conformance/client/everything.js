import { RpcError } from "@parlance/mcp/client";
import { valueFor } from "./value-for.js";

/** @import { Client } from "@parlance/mcp/client" */

/**
 * Uses everything: lists all that the server offers, calls every tool, reads every resource, gets every prompt.
 *
 * @param {Client} client
 */
export async function visitEverything(client) {
  const { tools, resources, prompts } = client.server.capabilities;
  if (tools !== undefined) {
    const listed = await client.tools.list().all();
    // All at once: what one call is asked must not show in another.
    await Promise.all(listed.map(({ name, inputSchema }) => outcome(client.tools.call(name, valueFor(inputSchema)))));
  }
  if (resources !== undefined) {
    for await (const { uri } of client.resources.list()) await outcome(client.resources.read(uri));
  }
  if (prompts !== undefined) {
    for await (const { name, arguments: args = [] } of client.prompts.list()) {
      await outcome(client.prompts.get(name, Object.fromEntries(args.map((each) => [each.name, "text"]))));
    }
  }
}

/**
 * An error that the server sends is an answer as well; what goes wrong on this side is not.
 *
 * @param {Promise<unknown>} call
 */
async function outcome(call) {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
  }
}
