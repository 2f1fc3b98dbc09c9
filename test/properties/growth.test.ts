import { contentLength, type Framing, lines } from "@parlance/mcp/jsonrpc";
import { expect, test } from "vitest";
import type { FrameSink } from "../../packages/mcp/src/base/framing.js";

const kilobyte = 1024;
const chunkBytes = 64 * kilobyte;

test.each([
  { name: "lines", framing: lines },
  { name: "Content-Length", framing: contentLength },
])("$name: however long a frame is, each of its bytes is touched a few times", ({ framing }) => {
  const perByte = [1, 4, 16].map((megabytes) => {
    const length = megabytes * kilobyte * kilobyte;
    return bytesTouched(() => expect(decodeInChunks(framing, length)).toBe(length)) / length;
  });
  // To look for its end, to be kept, joined and decoded; and once more, for a buffer that grows.
  for (const times of perByte) expect(times).toBeLessThan(5);
  expect(perByte[2]).toBeLessThan(1.1 * (perByte[0] ?? 0));
});

/** The length of a frame of `length` characters as it comes out. */
function decodeInChunks(framing: Framing, length: number): number | undefined {
  const frames: string[] = [];
  const sink: FrameSink = {
    frame: (text) => void frames.push(text),
    refuse: ({ message }) => expect.unreachable(message),
  };
  const decoder = framing.decoder(sink, length);
  const wire = new TextEncoder().encode(framing.encode("x".repeat(length)));
  for (let at = 0; at < wire.length; at += chunkBytes) decoder.push(wire.subarray(at, at + chunkBytes));
  return frames[0]?.length;
}

/** How many bytes are searched, copied or decoded while `run` runs. */
function bytesTouched(run: () => void): number {
  let touched = 0;
  const undo = [
    spied(Object.getPrototypeOf(Uint8Array.prototype), "set", (_, [source]) => {
      touched += (source as Uint8Array).length;
    }),
    spied(Object.getPrototypeOf(Uint8Array.prototype), "indexOf", (bytes, [, from]) => {
      touched += (bytes as Uint8Array).length - ((from as number | undefined) ?? 0);
    }),
    spied(Object.getPrototypeOf(Uint8Array.prototype), "lastIndexOf", (bytes) => {
      touched += (bytes as Uint8Array).length;
    }),
    spied(TextDecoder.prototype, "decode", (_, [bytes]) => {
      touched += (bytes as Uint8Array).length;
    }),
  ];
  try {
    run();
  } finally {
    for (const each of undo) each();
  }
  return touched;
}

type Method = (this: unknown, ...given: readonly unknown[]) => unknown;

/** Lets `see` look at every call of a method. Gives what takes it away again. */
function spied(holder: object, name: string, see: (on: unknown, given: readonly unknown[]) => void): () => void {
  const methods = holder as Record<string, Method>;
  const original = methods[name] as Method;
  methods[name] = function (...given) {
    see(this, given);
    return original.apply(this, [...given]);
  };
  return () => {
    methods[name] = original;
  };
}
