import { escapeControls } from "../../base/escape-controls.js";
import type { JsonObject } from "../../base/json.js";
import { andThen, type MaybePromise } from "../../base/maybe-promise.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { excerpt, type Reporter } from "../../jsonrpc/report.js";
import { methods } from "../../protocol/methods.js";
import type { CallToolResult, Tool } from "../../protocol/types/tools.js";
import { type CompiledSchema, compile } from "../../schema/compile.js";

/** Maximum remembered tools; the oldest are dropped. A server may list other tools each time. */
const maxListed = 10_000;

interface ListedTool {
  readonly outputSchema: JsonObject | undefined;
  readonly isTask: boolean;
  /** Compiled at the first call of the tool; undefined for an unusable schema. */
  compiled?: CompiledSchema | undefined;
}

/**
 * The output schemas of the tools that a server has listed, and whether they run only as tasks. Schemas come from a peer, so
 * their cost is limited, and their regular expressions run only in linear time.
 * https://modelcontextprotocol.io/specification/latest/server/tools#output-schema
 */
export class ListedTools {
  readonly #tools = new Map<string, ListedTool>();
  /** Tools that were listed before the last change, and not since. */
  #outdated = new Set<string>();
  readonly #report: Reporter;

  constructor(report: Reporter) {
    this.#report = report;
  }

  /** Records a listed tool. */
  note({ name, outputSchema, execution }: Tool): void {
    const isTask = execution?.taskSupport === "required";
    this.#tools.delete(name);
    this.#outdated.delete(name);
    if (outputSchema !== undefined || isTask) this.#tools.set(name, { outputSchema, isTask });
    const [oldest] = this.#tools.keys();
    if (this.#tools.size > maxListed && oldest !== undefined) this.#tools.delete(oldest);
  }

  /** Marks all tools as outdated. */
  clear(): void {
    const known = [...this.#outdated, ...this.#tools.keys()];
    this.#outdated = new Set(known.slice(-maxListed));
    this.#tools.clear();
  }

  /** Marks a tool as current, after the list was read again. */
  settle(name: string): void {
    this.#outdated.delete(name);
  }

  /** Whether the tool must be listed again before it is called. */
  isOutdated(name: string): boolean {
    return this.#outdated.has(name);
  }

  /** Whether the tool runs only as a task. */
  isTask(name: string): boolean {
    return this.#tools.get(name)?.isTask === true;
  }

  /**
   * Returns the result if it matches the output schema. Results of failed and of unlisted tools are not checked. An unusable
   * schema, because of its dialect or its size, is reported and checks nothing.
   * @throws LocalError `protocol` for a result that violates the schema
   */
  check(name: string, result: CallToolResult): MaybePromise<CallToolResult> {
    const schema = result.isError === true ? undefined : this.#schemaOf(name);
    if (schema === undefined) return result;
    if (!("structuredContent" in result)) throw unfit(name, "has no structuredContent, though it has an outputSchema");
    return andThen(schema.check(result.structuredContent), (checked) => {
      if (checked.ok) return result;
      const [first] = checked.errors;
      // The peer chose the names of the members.
      const place = escapeControls(first === undefined ? "" : `${first.path} ${first.message}`.trim());
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
