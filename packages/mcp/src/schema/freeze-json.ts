import { isObject, type JsonObject, kindOf, pointerToken } from "../base/json.js";
import type { SchemaLimits } from "./json-schema-validator.js";
import { SchemaError } from "./schema-error.js";

/**
 * Returns a deeply frozen copy of a schema document, so that the sent schema and the checked schema stay the same.
 * Members that `JSON.stringify` omits are omitted; any other value that is not JSON is rejected.
 */
export function freezeJson(schema: JsonObject, limits: SchemaLimits): JsonObject {
  const copy = new Copier(limits).object(schema, "", 1);
  const bytes = new TextEncoder().encode(JSON.stringify(copy)).length;
  if (bytes > limits.bytes) throw tooLong(limits);
  return copy;
}

class Copier {
  readonly #limits: SchemaLimits;
  #characters = 0;

  constructor(limits: SchemaLimits) {
    this.#limits = limits;
  }

  object(source: JsonObject, pointer: string, depth: number): JsonObject {
    const members: [string, unknown][] = [];
    for (const key of Object.keys(source)) {
      const value = source[key];
      this.#count(key.length);
      if (value === undefined || typeof value === "function" || typeof value === "symbol") continue;
      members.push([key, this.#value(value, `${pointer}/${pointerToken(key)}`, depth)]);
    }
    // `Object.fromEntries` instead of assignment: a member may be named `__proto__`.
    return Object.freeze(Object.fromEntries(members));
  }

  #value(source: unknown, pointer: string, depth: number): unknown {
    this.#count(typeof source === "string" ? source.length : 1);
    // One level of subschemas takes up to three levels of JSON; a default or a constant adds its own.
    if (depth > 4 * this.#limits.depth) {
      throw new SchemaError("too-large", pointer, "is nested too deep for a schema, or contains itself");
    }
    if (Array.isArray(source)) {
      return Object.freeze(source.map((item, index) => this.#value(item, `${pointer}/${index}`, depth + 1)));
    }
    if (isObject(source)) return this.object(source, pointer, depth + 1);
    if (source === null || typeof source === "string" || typeof source === "boolean") return source;
    if (typeof source === "number" && Number.isFinite(source)) return source;
    throw new SchemaError("malformed", pointer, `expected JSON, got ${kindOf(source)}`);
  }

  /** Counts a lower bound of the JSON text, so that a huge document is rejected before it is copied whole. */
  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > this.#limits.bytes) throw tooLong(this.#limits);
  }
}

function tooLong(limits: SchemaLimits): SchemaError {
  return new SchemaError("too-large", "", `expected a schema of at most ${limits.bytes} bytes as JSON`);
}
