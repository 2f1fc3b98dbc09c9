import { escapeControls } from "../../base/escape-controls.js";
import { andThen, type MaybePromise } from "../../base/maybe-promise.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { excerpt, type Reporter } from "../../jsonrpc/report.js";
import type { JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import type { CallToolResult, Tool } from "../../protocol/types/tools.js";
import { type CompiledSchema, compile } from "../../schema/compile.js";

/** A server may list other tools each time: the oldest are forgotten. */
const maxListed = 10_000;

interface ListedTool {
  readonly outputSchema: JsonObject | undefined;
  readonly isTask: boolean;
  /** Made when the tool is first called; undefined for a schema that cannot be used. */
  compiled?: CompiledSchema | undefined;
}

/**
 * What is known of the tools that a server has listed: what they give, and whether they run as tasks alone. Schemas come
 * from a peer: what they cost is bounded, and their regular expressions are run only where that takes linear time.
 * https://modelcontextprotocol.io/specification/latest/server/tools#output-schema
 */
export class ListedTools {
  readonly #tools = new Map<string, ListedTool>();
  /** Those that were known when the list last changed, and were not listed since. */
  #outdated = new Set<string>();
  readonly #report: Reporter;

  constructor(report: Reporter) {
    this.#report = report;
  }

  /** Learns of a tool, or learns anew. */
  note({ name, outputSchema, execution }: Tool): void {
    const isTask = execution?.taskSupport === "required";
    this.#tools.delete(name);
    this.#outdated.delete(name);
    if (outputSchema !== undefined || isTask) this.#tools.set(name, { outputSchema, isTask });
    const [oldest] = this.#tools.keys();
    if (this.#tools.size > maxListed && oldest !== undefined) this.#tools.delete(oldest);
  }

  /** They may all have changed: what is known of them is not used any more. */
  clear(): void {
    const known = [...this.#outdated, ...this.#tools.keys()];
    this.#outdated = new Set(known.slice(-maxListed));
    this.#tools.clear();
  }

  /** The list was read anew, and the tool is not on it any more, or is noted. */
  settle(name: string): void {
    this.#outdated.delete(name);
  }

  /** Whether the tool is to be listed again: what is known of it may not hold any more. */
  isOutdated(name: string): boolean {
    return this.#outdated.has(name);
  }

  /** Whether the tool runs as a task and in no other way. */
  isTask(name: string): boolean {
    return this.#tools.get(name)?.isTask === true;
  }

  /**
   * Gives the result back if it fits. A tool that failed need not keep to its schema, and of a tool that was not listed
   * none is known. A schema that cannot be used, because of its dialect or its size, is reported, and checks nothing.
   * @throws LocalError `protocol` for a result that does not fit
   */
  check(name: string, result: CallToolResult): MaybePromise<CallToolResult> {
    const schema = result.isError === true ? undefined : this.#schemaOf(name);
    if (schema === undefined) return result;
    if (!("structuredContent" in result)) throw unfit(name, "has no structuredContent, though it has an outputSchema");
    return andThen(schema.check(result.structuredContent), (checked) => {
      if (checked.ok) return result;
      const [first] = checked.errors;
      // A peer has named the members of what it sends.
      const place = escapeControls(first === undefined ? "" : `${first.path} ${first.message}`);
      throw unfit(name, `has structuredContent that its outputSchema forbids: ${place}`);
    });
  }

  #schemaOf(name: string): CompiledSchema | undefined {
    const tool = this.#tools.get(name);
    if (tool?.outputSchema === undefined) return undefined;
    if (!("compiled" in tool)) tool.compiled = this.#compiled(name, tool.outputSchema);
    return tool.compiled;
  }

  #compiled(name: string, schema: JsonObject): CompiledSchema | undefined {
    try {
      return compile(schema, { trust: "peer" });
    } catch (error) {
      const why = error instanceof Error ? error.message : "";
      const reason = `the tool ${excerpt(name)} has an outputSchema that cannot be used, so its results are not checked: ${why}`;
      this.#report({ kind: "tolerated", method: methods.listTools, reason });
      return undefined;
    }
  }
}

function unfit(name: string, what: string): LocalError {
  return new LocalError("protocol", `${methods.callTool}: the tool ${excerpt(name)} ${what}`);
}
