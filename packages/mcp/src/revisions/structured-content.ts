import type { JsonObject } from "../protocol/json.js";
import { without } from "./reshape.js";

const withoutStructure = without("structuredContent");

/**
 * A tool's result for a peer that cannot read its structured content. A result that says nothing in words says it as
 * JSON text, so that nothing is lost. Throws where JSON cannot say the structure, as encoding it would.
 * https://modelcontextprotocol.io/specification/latest/server/tools#structured-content
 */
export function structureAsText(result: JsonObject): unknown {
  const { content, structuredContent } = result;
  const silent = Array.isArray(content) && content.length === 0 && structuredContent !== undefined;
  const spoken = silent ? { ...result, content: [{ type: "text", text: JSON.stringify(structuredContent) }] } : result;
  return withoutStructure(spoken);
}
