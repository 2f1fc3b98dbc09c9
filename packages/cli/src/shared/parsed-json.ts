import { isObject, type JsonObject } from "@parlance/mcp/protocol";

/** The value of a JSON text; undefined if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // The caller decides what another text is.
  }
}

/** The object of a JSON text; undefined for any other text. */
export function parsedObject(text: string): JsonObject | undefined {
  const value = parsedJson(text);
  return isObject(value) ? value : undefined;
}
