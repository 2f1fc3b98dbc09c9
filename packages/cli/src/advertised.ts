import { methods, type ServerCapabilities, type Tool } from "@parlance/mcp";
import { type Client, RpcError } from "@parlance/mcp/client";
import { isObject, type JsonObject } from "./json.js";

/** A list that a server offers when it declares a capability. */
interface OfferedList {
  readonly capability: keyof ServerCapabilities;
  readonly method: string;
  /** The member of the result that holds the items. */
  readonly member: string;
}

const offeredLists: readonly OfferedList[] = [
  { capability: "tools", method: methods.listTools, member: "tools" },
  { capability: "resources", method: methods.listResources, member: "resources" },
  { capability: "resources", method: methods.listResourceTemplates, member: "resourceTemplates" },
  { capability: "prompts", method: methods.listPrompts, member: "prompts" },
];

/** A server may say for ever that there is more. */
const mostPages = 64;
const mostItems = 10_000;

/** Asks for everything that the server advertises, and gives back its tools. A list that is refused is passed over. */
export async function listAdvertised(client: Client, signal: AbortSignal): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  for (const { capability, method, member } of offeredLists) {
    if (client.server.capabilities[capability] === undefined) continue;
    for await (const item of items(client, method, member, signal)) {
      if (method === methods.listTools && isTool(item)) tools.push(item);
    }
  }
  return tools;
}

async function* items(client: Client, method: string, member: string, signal: AbortSignal): AsyncGenerator<unknown> {
  const seen = new Set<unknown>();
  let given = 0;
  for (let params: JsonObject = {}, page = 1; page <= mostPages; page += 1) {
    const result = await unlessRefused(client.call(method, params, { signal }));
    const { [member]: found, nextCursor: cursor } = result ?? {};
    if (Array.isArray(found)) {
      given += found.length;
      yield* found;
    }
    if (typeof cursor !== "string" || seen.has(cursor) || given >= mostItems) return;
    seen.add(cursor);
    params = { cursor };
  }
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
