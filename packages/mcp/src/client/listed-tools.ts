import { after, type MaybePromise } from "../base/later.js";
import { visible } from "../base/visible.js";
import { LocalError } from "../jsonrpc/errors.js";
import { excerpt } from "../jsonrpc/report.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { CallToolResult, Tool } from "../protocol/tools.js";
import { type CompiledSchema, compile } from "../schema/compile.js";

/** A server may list other tools each time: the oldest are forgotten. */
const maxListed = 10_000;

interface ListedTool {
  readonly outputSchema: JsonObject | undefined;
  readonly isTask: boolean;
  /** Made when the tool is first called. */
  compiled?: CompiledSchema;
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
   * none is known.
   * @throws LocalError `protocol` for a result that does not fit, or a schema that cannot be used
   */
  check(name: string, result: CallToolResult): MaybePromise<CallToolResult> {
    const schema = result.isError === true ? undefined : this.#schemaOf(name);
    if (schema === undefined) return result;
    if (!("structuredContent" in result)) throw unfit(name, "has no structuredContent, though it has an outputSchema");
    return after(schema.check(result.structuredContent), (checked) => {
      if (checked.ok) return result;
      const [first] = checked.errors;
      // A peer has named the members of what it sends.
      const place = visible(first === undefined ? "" : `${first.path} ${first.message}`);
      throw unfit(name, `has structuredContent that its outputSchema forbids: ${place}`);
    });
  }

  #schemaOf(name: string): CompiledSchema | undefined {
    const tool = this.#tools.get(name);
    if (tool?.outputSchema === undefined) return undefined;
    try {
      tool.compiled ??= compile(tool.outputSchema, { trust: "peer" });
      return tool.compiled;
    } catch (error) {
      const why = visible(error instanceof Error ? error.message : "");
      throw unfit(name, `has an outputSchema that cannot be used: ${why}`, error);
    }
  }
}

function unfit(name: string, what: string, cause?: unknown): LocalError {
  const message = `${methods.callTool}: the tool ${excerpt(name)} ${what}`;
  return new LocalError("protocol", message, cause === undefined ? {} : { cause });
}
