import { isObject, type JsonObject } from "../base/json.js";
import type { ParamsFault } from "../jsonrpc/errors.js";

const label = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const metaKey = new RegExp(`^(?:${label}(?:\\.${label})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`);

/**
 * Checks the keys of an outgoing `_meta`: a name, with an optional prefix of labels such as `com.example/`. Keys from
 * peers are not checked.
 * https://modelcontextprotocol.io/specification/latest/basic#meta
 *
 * @param what the owner of the `_meta`, for the message
 * @throws TypeError naming the key
 */
export function requireMetaKeys(holder: unknown, what: string): void {
  if (!isObject(holder) || holder._meta === undefined) return;
  if (!isObject(holder._meta)) throw new TypeError(`${what}: its _meta must be an object`);
  const fault = metaKeyFault(holder._meta, "");
  if (fault !== undefined) throw new TypeError(`${what}: ${fault.message}`);
}

/**
 * The same check, returning a fault instead of throwing.
 * @param path JSON pointer to the `_meta`
 */
export function metaKeyFault(meta: JsonObject, path: string): ParamsFault | undefined {
  const wrong = Object.keys(meta).find((key) => !metaKey.test(key));
  if (wrong === undefined) return undefined;
  const form = "use letters, digits and inner - _ . only, optionally after a prefix such as com.example/";
  return { path, message: `${JSON.stringify(wrong)} cannot be a key of _meta: ${form}` };
}
