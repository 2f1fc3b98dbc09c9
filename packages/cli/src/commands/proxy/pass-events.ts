import type { Readable, Writable } from "node:stream";
import { EventCutter } from "@parlance/wire";

/** Passes on so many events of a stream, and resolves when they are written: to true if the stream goes on. */
export async function passEvents(
  from: Readable,
  to: Writable,
  most: number,
  chunk: (bytes: Uint8Array) => void,
): Promise<boolean> {
  const cutter = new EventCutter();
  let passed = 0;
  for await (const bytes of from as AsyncIterable<Uint8Array>) {
    // Byte by byte: it is the byte that ends the last event that is looked for.
    let end = 0;
    for (; end < bytes.length && passed < most; end += 1) passed += cutter.push(bytes.subarray(end, end + 1), 0).length;
    chunk(bytes);
    await new Promise((resolve) => to.write(bytes.subarray(0, end), resolve));
    if (passed >= most) return true;
  }
  return false;
}
