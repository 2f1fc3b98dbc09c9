/**
 * Something that a simple schema allows: of an object, the members that it must have.
 *
 * @param {unknown} schema
 * @returns {any} what the schema says, which only the schema knows
 */
export function valueFor(schema) {
  const { type, properties = {}, required = [], enum: values, default: given } = /** @type {Schema} */ (schema ?? {});
  if (given !== undefined) return given;
  if (values !== undefined) return values[0];
  if (type === "object") return Object.fromEntries(required.map((name) => [name, valueFor(properties[name])]));
  return type !== undefined && Object.hasOwn(simple, type) ? simple[type] : "text";
}

/** @type {Readonly<Record<string, unknown>>} */
const simple = { number: 1.5, integer: 1, boolean: true, array: [], null: null };

/**
 * @typedef {object} Schema
 * @property {string} [type]
 * @property {Readonly<Record<string, unknown>>} [properties]
 * @property {readonly string[]} [required]
 * @property {readonly unknown[]} [enum]
 * @property {unknown} [default]
 */
