import { escapeControls } from "../../base/escape-controls.js";

const maxBytes = 64 * 1024;
const maxLines = 20;
const maxLineLength = 8 * 1024;

/** The end of a process's stderr, kept in constant memory. */
export class StderrTail {
  readonly #ring = new Uint8Array(maxBytes);
  #written = 0;

  push(chunk: Uint8Array): void {
    const kept = chunk.subarray(-maxBytes);
    const at = this.#written % maxBytes;
    const untilEdge = maxBytes - at;
    this.#ring.set(kept.subarray(0, untilEdge), at);
    this.#ring.set(kept.subarray(untilEdge));
    this.#written += kept.length;
  }

  /** The last 20 lines, each cut to 8 Ki characters, with control characters escaped. */
  get text(): string {
    return this.#decoded()
      .split(/\r?\n/)
      .filter((line) => line.trim() !== "")
      .slice(-maxLines)
      .map((line) => escapeControls(line.slice(0, maxLineLength)))
      .join("\n");
  }

  #decoded(): string {
    const decoder = new TextDecoder();
    if (this.#written <= maxBytes) return decoder.decode(this.#ring.subarray(0, this.#written));
    const at = this.#written % maxBytes;
    return decoder.decode(this.#ring.subarray(at), { stream: true }) + decoder.decode(this.#ring.subarray(0, at));
  }
}
