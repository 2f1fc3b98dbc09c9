import { after, type MaybePromise } from "../base/later.js";
import { LocalError } from "../jsonrpc/errors.js";
import { excerpt } from "../jsonrpc/report.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { CallToolResult, Tool } from "../protocol/tools.js";
import { type CompiledSchema, compile } from "../schema/compile.js";

/** A server may list other tools each time: of the oldest it is forgotten what they give. */
const maxListed = 10_000;

/**
 * The output schemas of the tools that a server has listed, each compiled when its tool is first called. They come from a
 * peer: what they cost is bounded, and their regular expressions are run only where that takes linear time.
 * https://modelcontextprotocol.io/specification/latest/server/tools#output-schema
 */
export class OutputSchemas {
  readonly #listed = new Map<string, JsonObject>();
  readonly #compiled = new Map<string, CompiledSchema>();

  /** Learns of a tool, or learns anew. */
  note({ name, outputSchema }: Tool): void {
    this.forget(name);
    if (outputSchema === undefined) return;
    this.#listed.set(name, outputSchema);
    const [oldest] = this.#listed.keys();
    if (this.#listed.size > maxListed && oldest !== undefined) this.forget(oldest);
  }

  /** Forgets a tool, or all of them. */
  forget(name?: string): void {
    for (const schemas of [this.#listed, this.#compiled]) {
      if (name === undefined) schemas.clear();
      else schemas.delete(name);
    }
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
      throw unfit(name, `has structuredContent that its outputSchema forbids: ${first?.path ?? ""} ${first?.message}`);
    });
  }

  #schemaOf(name: string): CompiledSchema | undefined {
    const known = this.#compiled.get(name);
    const listed = this.#listed.get(name);
    if (known !== undefined || listed === undefined) return known;
    try {
      const compiled = compile(listed, { trust: "peer" });
      this.#compiled.set(name, compiled);
      return compiled;
    } catch (error) {
      throw unfit(
        name,
        `has an outputSchema that cannot be used: ${error instanceof Error ? error.message : ""}`,
        error,
      );
    }
  }
}

function unfit(name: string, what: string, cause?: unknown): LocalError {
  const message = `${methods.callTool}: the tool ${excerpt(name)} ${what}`;
  return new LocalError("protocol", message, cause === undefined ? {} : { cause });
}
