import type { Reporter } from "../../jsonrpc/report.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import { type MirroredParam, mirrorOf, readMirroredParams } from "../../protocol/mirrored-params.js";

/** The maximum number of tools to remember; the oldest are dropped. A server may list other tools each time. */
const maxTools = 10_000;

/**
 * The arguments that each tool of a server requires in headers, from its tool list. Unlisted tools have none.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
export class MirroredTools {
  readonly #params = new Map<string, readonly MirroredParam[]>();
  readonly #report: Reporter;

  /** @param report called for tools that cannot be called */
  constructor(report: Reporter) {
    this.#report = report;
  }

  /** Records the tools of a `tools/list` page, and returns the page without those whose headers are invalid. */
  learn(page: JsonObject): JsonObject {
    if (!Array.isArray(page.tools)) return page;
    const tools: readonly unknown[] = page.tools;
    const usable = tools.filter((tool) => this.#note(tool));
    return usable.length === tools.length ? page : { ...page, tools: usable };
  }

  /** Whether a listed tool has arguments in headers. */
  knows(name: unknown): boolean {
    return typeof name === "string" && this.#params.has(name);
  }

  /** The headers of a `tools/call`. */
  headersOf({ name, arguments: args }: JsonObject): Readonly<Record<string, string>> {
    const params = (typeof name === "string" && this.#params.get(name)) || [];
    return Object.fromEntries(
      params.flatMap((param) => {
        const value = mirrorOf(param, args);
        return value === undefined ? [] : [[param.header, value]];
      }),
    );
  }

  /** Returns false for a tool that must be removed from the list. */
  #note(tool: unknown): boolean {
    if (!isObject(tool) || typeof tool.name !== "string") return true; // The validation of the list reports it.
    const { name } = tool;
    this.#params.delete(name);
    const read = readMirroredParams(tool.inputSchema);
    if ("faults" in read) {
      const reason = read.faults.map(({ path, message }) => `${path}: ${message}`).join("; ");
      this.#report({ kind: "left-out", method: methods.listTools, name, reason });
      return false;
    }
    if (read.params.length > 0) this.#params.set(name, read.params);
    const [oldest] = this.#params.keys();
    if (this.#params.size > maxTools && oldest !== undefined) this.#params.delete(oldest);
    return true;
  }
}
