import { requireString } from "../../base/check-members.js";
import { methods } from "../../protocol/methods.js";
import type { GetPromptResult, Prompt } from "../../protocol/types/prompts.js";
import { type ClientCallOptions, type ClientParts, callOptions, invalidResult } from "./client-parts.js";
import { type ListKind, listing, type PaginatedList } from "./paginate.js";

const prompts: ListKind = {
  method: methods.listPrompts,
  member: "prompts",
  key: "name",
  check: (item) => ({ item }),
};

/**
 * The prompts of a server.
 * https://modelcontextprotocol.io/specification/latest/server/prompts
 */
export class ClientPrompts {
  readonly #parts: ClientParts;

  /** Created by `Client`. */
  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** Lists the prompts of the server, page by page. */
  list(options: ClientCallOptions = {}): PaginatedList<Prompt> {
    return listing(this.#parts, prompts, options);
  }

  /** Gets the messages of a prompt. @throws RpcError −32602 for an unknown prompt or a missing argument */
  async get(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: ClientCallOptions = {},
  ): Promise<GetPromptResult> {
    requireString("client.prompts.get: the name", name, "write client.prompts.get(name, args)");
    const result = await this.#parts.call(methods.getPrompt, { name, arguments: args }, callOptions(options));
    if (!Array.isArray(result.messages)) throw invalidResult(methods.getPrompt, "messages is not an array");
    return result as unknown as GetPromptResult; // Its required member was checked above.
  }
}
