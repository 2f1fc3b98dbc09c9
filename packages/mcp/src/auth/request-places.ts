/** The most requests at a time that callers cause, and those that one network address may cause. */
const places = 64;
const placesOfAddress = places / 2;

/**
 * Counts the requests to other servers that callers cause. Every unknown token and every unknown client causes one before anything is
 * known of the caller, so without a limit strangers could make this server flood others. One network address gets half of the places, so
 * that it cannot shut out everybody else.
 */
export class RequestPlaces {
  readonly #running = new Map<string, number>();
  #total = 0;

  /**
   * Runs a request if there is a place for it; undefined otherwise.
   * @param address the network address of the caller; if it is not known, only the total counts
   */
  use<Result>(address: string | undefined, run: () => Promise<Result>): Promise<Result> | undefined {
    const running = address === undefined ? 0 : (this.#running.get(address) ?? 0);
    if (this.#total >= places || running >= placesOfAddress) return undefined;
    this.#count(address, 1);
    return run().finally(() => this.#count(address, -1));
  }

  #count(address: string | undefined, change: 1 | -1): void {
    this.#total += change;
    if (address === undefined) return;
    const running = (this.#running.get(address) ?? 0) + change;
    if (running > 0) this.#running.set(address, running);
    else this.#running.delete(address);
  }
}
