import { methods, type ServerCapabilities, type Tool } from "@parlance/mcp";
import { type Client, RpcError } from "@parlance/mcp/client";
import { isObject, type JsonObject } from "./json.js";

/** A list of things that a server can offer, by the word under which a person asks for it. */
export type ListName = "tools" | "resources" | "templates" | "prompts";

/** A list that a server offers when it declares a capability. */
export interface OfferedList {
  readonly name: ListName;
  readonly capability: keyof ServerCapabilities;
  readonly method: string;
  /** The member of the result that holds the items. */
  readonly member: string;
}

/** Every list, in the order in which they are asked for. */
export const offeredLists: readonly OfferedList[] = [
  { name: "tools", capability: "tools", method: methods.listTools, member: "tools" },
  { name: "resources", capability: "resources", method: methods.listResources, member: "resources" },
  { name: "templates", capability: "resources", method: methods.listResourceTemplates, member: "resourceTemplates" },
  { name: "prompts", capability: "prompts", method: methods.listPrompts, member: "prompts" },
];

/** A server may say for ever that there is more. */
const mostPages = 64;
const mostItems = 10_000;

/** Asks for everything that the server advertises, and gives back its tools. A list that is refused is passed over. */
export async function listAdvertised(client: Client, signal: AbortSignal): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  for (const list of offeredLists) {
    if (client.server.capabilities[list.capability] === undefined) continue;
    const take = (item: unknown): void => {
      if (list.name === "tools" && isTool(item)) tools.push(item);
    };
    await unlessRefused(readList(client, list, signal, take));
  }
  return tools;
}

/**
 * Hands over the items of a list as they come. Gives back why it was not read to its end.
 * @throws RpcError when the server refuses; LocalError as `Client.call`
 */
export async function readList(
  client: Client,
  { method, member }: OfferedList,
  signal: AbortSignal,
  take: (item: unknown) => void,
): Promise<string | undefined> {
  const seen = new Set<unknown>();
  let given = 0;
  for (let params: JsonObject = {}, page = 1; page <= mostPages; page += 1) {
    const { [member]: found, nextCursor: cursor } = await client.call(method, params, { signal });
    if (!Array.isArray(found)) return `the member ${member} of its result is no array`;
    given += found.length;
    found.forEach(take);
    if (typeof cursor !== "string") return undefined;
    if (seen.has(cursor)) return "the server repeats a cursor";
    if (given >= mostItems) break;
    seen.add(cursor);
    params = { cursor };
  }
  return `there is more than ${given} items`;
}

/** An error of the server is one more frame to see, and no reason to stop looking. */
export async function unlessRefused<Result>(call: Promise<Result>): Promise<Result | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}

function isTool(value: unknown): value is Tool {
  return isObject(value) && typeof value.name === "string" && isObject(value.inputSchema);
}
