import type { Meter } from "./meter.js";

/** Thrown for a value that JSON cannot represent, such as undefined. The validator catches it. */
export class NotJson extends Error {
  constructor(value: unknown) {
    super(`expected JSON, got a value of type ${typeof value}`);
  }
}

/**
 * Longer keys are split into pieces: V8 hashes very long strings by their length alone, so keys of equal length would
 * collide.
 */
const piece = 8_192;

/**
 * Assigns numbers to JSON values: equal values get the same number, whatever the order of members (1 equals 1.0, and -0
 * equals 0). Each array and object is read once, so comparing many values takes time linear in their total size.
 * https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.2
 */
export class Equality {
  /**
   * The number of each value by key. The first character of a key is the kind of the value. It also prevents hash
   * flooding: V8 hashes numbers, and strings that look like numbers, without the per-process seed.
   */
  readonly #numbers = new Map<string, number>();
  /** The numbers of arrays and objects read so far. */
  readonly #read = new Map<object, number>();

  /** The number of a value; a value not seen before gets a new number. */
  numberOf(value: unknown, meter?: Meter): number {
    return this.#number(value, meter, true) as number; // Undefined only if `adds` is false.
  }

  /** The number of a value that equals an earlier one; otherwise undefined. */
  find(value: unknown, meter: Meter): number | undefined {
    return this.#number(value, meter, false);
  }

  #number(value: unknown, meter: Meter | undefined, adds: boolean): number | undefined {
    meter?.spend(1 / 8);
    if (typeof value === "string") return this.#text(value, meter, adds);
    if (typeof value === "number" || typeof value === "boolean" || value === null)
      return this.#entry(`=${value === 0 ? 0 : value}`, adds);
    if (typeof value !== "object") throw new NotJson(value);
    const known = this.#read.get(value);
    if (known !== undefined) return known;
    const parts = Array.isArray(value)
      ? this.#items(value, meter, adds)
      : this.#members(value as Record<string, unknown>, meter, adds);
    const number = parts === undefined ? undefined : this.#entry(parts, adds);
    // Cache added values only: they do not change, while an object that is only looked up may change before the next
    // call.
    if (adds && number !== undefined) this.#read.set(value, number);
    return number;
  }

  #items(items: readonly unknown[], meter: Meter | undefined, adds: boolean): string | undefined {
    const numbers: number[] = [];
    for (const item of items) {
      const number = this.#number(item, meter, adds);
      if (number === undefined) return undefined;
      numbers.push(number);
    }
    return `[${numbers.join()}`;
  }

  #members(holder: Readonly<Record<string, unknown>>, meter: Meter | undefined, adds: boolean): string | undefined {
    const names = Object.keys(holder).sort();
    meter?.list(names.length);
    const numbers: number[] = [];
    for (const name of names) {
      const key = this.#text(name, meter, adds);
      const number = key === undefined ? undefined : this.#number(holder[name], meter, adds);
      if (key === undefined || number === undefined) return undefined;
      numbers.push(key, number);
    }
    return `{${numbers.join()}`;
  }

  #text(text: string, meter: Meter | undefined, adds: boolean): number | undefined {
    meter?.text(text.length);
    return this.#entry(`"${text}`, adds);
  }

  #entry(key: string, adds: boolean): number | undefined {
    if (key.length <= piece) return this.#short(key, adds);
    const numbers: number[] = [];
    for (let at = 0; at < key.length; at += piece - 1) {
      const number = this.#short(`~${key.slice(at, at + piece - 1)}`, adds);
      if (number === undefined) return undefined;
      numbers.push(number);
    }
    return this.#entry(`+${numbers.join()}`, adds);
  }

  #short(key: string, adds: boolean): number | undefined {
    const known = this.#numbers.get(key);
    if (known !== undefined || !adds) return known;
    this.#numbers.set(key, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}
