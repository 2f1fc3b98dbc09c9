/** First in, first out, in constant time however long it gets. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  /** Where the first item is; what stood before it is gone. */
  #first = 0;

  get isEmpty(): boolean {
    return this.#first === this.#items.length;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The first item; undefined when there is none. */
  peek(): T | undefined {
    return this.#items[this.#first];
  }

  /** Puts something else in the place of the first item. */
  replace(item: T): void {
    this.#items[this.#first] = item;
  }

  /** Takes the first item out. */
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
