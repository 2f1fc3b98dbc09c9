/**
 * A `Map` for entries that come and go one at a time, such as the calls of a connection. The table of a `Map` is allocated anew
 * whenever its last entry is deleted, which costs more than everything else that is done for a call; here one entry is beside it.
 */
export class SmallMap<Key, Value> {
  #key: Key | undefined;
  #value: Value | undefined;
  #others: Map<Key, Value> | undefined;
  /** A field, and no accessor: it is read for every call. Changed by methods of this class alone. */
  size = 0;

  get(key: Key): Value | undefined {
    if (this.size === 0) return undefined;
    return this.#value !== undefined && this.#key === key ? this.#value : this.#others?.get(key);
  }

  /** @param value not undefined */
  set(key: Key, value: Value): void {
    if (this.#value !== undefined && this.#key === key) this.#value = value;
    else if (this.#value === undefined && this.#others?.has(key) !== true) {
      this.#key = key;
      this.#value = value;
      this.size += 1;
    } else {
      this.#others ??= new Map();
      const before = this.#others.size;
      this.#others.set(key, value);
      this.size += this.#others.size - before;
    }
  }

  delete(key: Key): boolean {
    if (this.#value !== undefined && this.#key === key) {
      this.#key = undefined;
      this.#value = undefined;
    } else if (this.#others?.delete(key) !== true) return false;
    this.size -= 1;
    return true;
  }

  /** The values, in no order. */
  *values(): Generator<Value> {
    if (this.#value !== undefined) yield this.#value;
    if (this.#others !== undefined) yield* this.#others.values();
  }
}
