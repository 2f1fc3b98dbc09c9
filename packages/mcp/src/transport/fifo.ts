/** A queue with constant-time operations at any length. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  /** The index of the first item; earlier slots are empty. */
  #first = 0;

  get isEmpty(): boolean {
    return this.#first === this.#items.length;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The first item; undefined if the queue is empty. */
  peek(): T | undefined {
    return this.#items[this.#first];
  }

  /** Replaces the first item. */
  replace(item: T): void {
    this.#items[this.#first] = item;
  }

  /** Removes and returns the first item. */
  shift(): T | undefined {
    const item = this.#items[this.#first];
    this.#items[this.#first] = undefined;
    this.#first += 1;
    if (this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#first = 0;
  }
}
