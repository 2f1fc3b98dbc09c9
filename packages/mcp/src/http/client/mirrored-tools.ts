import type { Reporter } from "../../jsonrpc/report.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import { type MirroredParam, mirrorOf, readMirroredParams } from "../../protocol/mirrored-params.js";

/** A server may list other tools each time: the oldest are forgotten. */
const maxTools = 10_000;

/**
 * Which arguments of a server's tools go in headers, as it has listed them. Of a tool that was not listed, none does.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
export class MirroredTools {
  readonly #params = new Map<string, readonly MirroredParam[]>();
  readonly #report: Reporter;

  /** @param report is told of tools that cannot be called */
  constructor(report: Reporter) {
    this.#report = report;
  }

  /** Learns from a page of `tools/list`, and gives it back without the tools whose headers cannot be made. */
  learn(page: JsonObject): JsonObject {
    if (!Array.isArray(page.tools)) return page;
    const tools: readonly unknown[] = page.tools;
    const usable = tools.filter((tool) => this.#note(tool));
    return usable.length === tools.length ? page : { ...page, tools: usable };
  }

  /** Whether a tool was listed that has arguments in headers. */
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

  /** False for a tool that must not be offered. */
  #note(tool: unknown): boolean {
    if (!isObject(tool) || typeof tool.name !== "string") return true; // Whoever reads the list says what is wrong.
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
