import type { Reporter } from "../../jsonrpc/report.js";
import { methods } from "../../protocol/methods.js";
import type { GetPromptResult, Prompt } from "../../protocol/types/prompts.js";
import type { SessionCall } from "../session/client-session.js";
import { type ListHost, type ListKind, listing, type PaginatedList } from "./paginate.js";
import { type ClientCallOptions, callOptions, invalidResult } from "./verb-options.js";

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
  readonly #call: SessionCall;
  readonly #report: Reporter;

  /** Made by `Client`. */
  constructor({ call, report }: ListHost) {
    this.#call = call;
    this.#report = report;
  }

  /** The prompts that the server offers, page by page. */
  list(options: ClientCallOptions = {}): PaginatedList<Prompt> {
    return listing({ call: this.#call, report: this.#report }, prompts, options);
  }

  /** A prompt, filled in. @throws RpcError −32602 for one that does not exist, or misses an argument */
  async get(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: ClientCallOptions = {},
  ): Promise<GetPromptResult> {
    const result = await this.#call(methods.getPrompt, { name, arguments: args }, callOptions(options));
    if (!Array.isArray(result.messages)) throw invalidResult(methods.getPrompt, "messages is not an array");
    return result as unknown as GetPromptResult; // What a caller dereferences first is checked just above.
  }
}
