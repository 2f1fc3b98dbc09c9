import { type FileHandle, open } from "node:fs/promises";
import { RecordingDecoder, type RecordingItem } from "@parlance/wire";

const chunkSize = 1 << 16;

/** A recording that may still grow. An incomplete last line waits for its end. */
export class FollowedFile {
  readonly #decoder = new RecordingDecoder();
  readonly #file: FileHandle;
  readonly #buffer = new Uint8Array(chunkSize);
  #offset = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<FollowedFile> {
    return new FollowedFile(await open(path));
  }

  /** The lines written since the last read. */
  async *read(): AsyncGenerator<RecordingItem> {
    for (;;) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, chunkSize, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      yield* this.#decoder.push(this.#buffer.subarray(0, bytesRead));
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
