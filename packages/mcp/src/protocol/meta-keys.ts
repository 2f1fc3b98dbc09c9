import { isObject } from "../base/json.js";

const label = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const metaKey = new RegExp(`^(?:${label}(?:\\.${label})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`);

/**
 * The keys of a `_meta` that goes out have a form: a name, behind a prefix of labels such as `com.example/` or alone. Those
 * that come in are taken as they are.
 * https://modelcontextprotocol.io/specification/latest/basic#meta
 *
 * @param what what has the `_meta`, for the message
 * @throws TypeError naming the key
 */
export function requireMetaKeys(holder: unknown, what: string): void {
  if (!isObject(holder) || holder._meta === undefined) return;
  if (!isObject(holder._meta)) throw new TypeError(`${what}: its _meta must be an object`);
  const wrong = Object.keys(holder._meta).find((key) => !metaKey.test(key));
  if (wrong === undefined) return;
  throw new TypeError(
    `${what}: ${JSON.stringify(wrong)} cannot be a key of _meta: it is a name of letters, digits and - _ . inside, ` +
      "alone or behind a prefix such as com.example/",
  );
}

/** The same for content blocks, and for the resources in them. Most have no `_meta`, and cost no more than the look. */
export function requireBlockMeta(blocks: unknown, what: string): void {
  for (const block of Array.isArray(blocks) ? (blocks as readonly unknown[]) : [blocks]) {
    requireMetaKeys(block, what);
    if (isObject(block)) requireMetaKeys(block.resource, what);
  }
}
