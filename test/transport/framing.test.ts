import { contentLength, type Framing, lines } from "@parlance/mcp/jsonrpc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FrameRefusal, FrameSink } from "../../packages/mcp/src/base/framing.js";
import { half, headerStreams, junk, lineStreams, mark, type Wire } from "./streams.js";

describe.each([
  { framing: lines, streams: lineStreams },
  { framing: contentLength, streams: headerStreams },
])("$framing.name: the same in one chunk, in two at every byte, in single bytes", ({ framing, streams }) => {
  test.each(streams)("$name", ({ wire, gives, max }) => {
    const stream = toBytes(wire);
    const whole = decode(framing, [stream], max);
    expect(whole.map(shown)).toEqual(gives);
    for (let cut = 0; cut <= stream.length; cut += 1) {
      expect(decode(framing, [stream.subarray(0, cut), stream.subarray(cut)], max), `cut at ${cut}`).toEqual(whole);
    }
    expect(decode(framing, cutAt(stream, 1), max), "single bytes").toEqual(whole);
  });
});

const chunkSizes = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 20 });
const pieces = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc
    .constantFrom(
      "\n",
      "\r\n",
      "\r\n\r\n",
      " ",
      "1",
      '{"a":"é漢😀"}',
      "Content-Length: ",
      "content-length:3\r\n\r\n",
      "X: 1\r\n",
    )
    .map((text) => toBytes([text])),
  fc.constantFrom(mark, half, [0xc0, 0xaf], [0xe6]).map((bytes) => Uint8Array.from(bytes)),
  fc.json().map((json) => toBytes([contentLength.encode(json)])),
  fc.json().map((json) => toBytes([lines.encode(json)])),
);

describe.each([lines, contentLength])("$name", (framing) => {
  test("any bytes in any chunks give what they give in one, and nothing is thrown", () => {
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 12 }),
        chunkSizes,
        fc.integer({ min: 1, max: 48 }),
        (parts, sizes, max) => {
          const stream = toBytes(parts.map((part) => [...part]));
          expect(decode(framing, cutBy(stream, sizes), max)).toEqual(decode(framing, [stream], max));
        },
      ),
      { numRuns: 1_500 },
    );
  });

  test("what is encoded arrives, in any chunks", () => {
    const space = fc.constantFrom(0, 2, "\t");
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.jsonValue(), space), { maxLength: 6 }), chunkSizes, (sent, sizes) => {
        const stream = toBytes(sent.map(([value, indent]) => framing.encode(JSON.stringify(value, null, indent))));
        const frames = decode(framing, cutBy(stream, sizes), 1_000_000).map((event) => JSON.parse(event.frame ?? ""));
        expect(frames).toEqual(sent.map(([value]) => JSON.parse(JSON.stringify(value))));
      }),
    );
  });

  test("a frame far over the limit passes in constant memory, is refused once, and the next one arrives", () => {
    const chunk = new Uint8Array(64 * 1024).fill(0x61);
    const length = 1_024 * chunk.length;
    const [before, after] =
      framing === lines ? ["", "\n1\n"] : [`Content-Length: ${length}\r\n\r\n`, contentLength.encode("1")];
    const { decoder, events } = open(framing, 1024 * 1024);
    decoder.push(toBytes([before]));
    const held = memory();
    for (let at = 0; at < length; at += chunk.length) decoder.push(chunk);
    expect(memory() - held).toBeLessThan(6 * 1024 * 1024);
    expect(events.map(({ refusal }) => refusal?.reason)).toEqual(framing === lines ? [] : ["too-long"]);
    decoder.push(toBytes([after]));
    expect(events.map((event) => event.frame ?? event.refusal?.bytes)).toEqual([length, "1"]);
    expect(events[0]?.refusal?.head).toBe("a".repeat(64 * 1024));
  });

  test("a frame sent in single bytes costs only its bytes", () => {
    const length = 600_000;
    const { decoder } = open(framing, length);
    if (framing === contentLength) decoder.push(toBytes([`Content-Length: ${length}\r\n\r\n`]));
    const held = memory();
    for (let at = 1; at < length; at += 1) decoder.push(Uint8Array.of(0x61));
    expect(memory() - held).toBeLessThan(32 * 1024 * 1024);
  });

  test("long frames around a limit above 64 KiB are the same in every chunking", () => {
    const max = 100_000;
    const bodies = [max - 1, max, max + 1, 2 * max].map((length) => "é".padEnd(length - 1, "x"));
    const stream = toBytes([
      framing.encode(bodies.join("").slice(0, 10)),
      ...bodies.map((body) => framing.encode(body)),
      framing.encode("1"),
    ]);
    const whole = decode(framing, [stream], max);
    expect(whole.map(({ frame, refusal }) => frame?.length ?? refusal?.reason)).toEqual([
      10,
      max - 2,
      max - 1,
      "too-long",
      "too-long",
      1,
    ]);
    for (const size of [997, 4_096, 65_536, 99_999, 100_001, 300_000])
      expect(decode(framing, cutAt(stream, size), max)).toEqual(whole);
  });

  test("the end comes once", () => {
    const { decoder, events } = open(framing, 64);
    decoder.push(toBytes(["12"]));
    decoder.end();
    decoder.end();
    expect(events.map(shown)).toEqual(['!truncated 2 "12"']);
  });

  test("a limit that is no number of bytes is a mistake", () => {
    for (const limit of [0, -1, Number.NaN]) expect(() => open(framing, limit)).toThrow(RangeError);
    expect(decode(framing, [toBytes([framing.encode("1")])], Number.POSITIVE_INFINITY)).toEqual([{ frame: "1" }]);
  });
});

test("the head of a refused frame ends between two characters and has at most 64 KiB", () => {
  const [event] = decode(lines, [toBytes(["x", "漢".repeat(50_000), "\n"])], 1_000);
  expect(event?.refusal?.head).toBe(`x${"漢".repeat(21_845)}`.slice(0, 21_846));
});

test("a header that runs into a long body of unknown length is found", () => {
  const garbage = "x".repeat(200_000);
  const stream = toBytes([junk, garbage, contentLength.encode("1")]);
  for (const size of [1_000, 65_536, stream.length]) {
    const [header, body, frame] = decode(contentLength, cutAt(stream, size));
    expect([header?.refusal?.bytes, body?.refusal?.bytes, frame]).toEqual([24, garbage.length, { frame: "1" }]);
  }
});

test("a header without end is given up every 4 KiB", () => {
  for (const field of ["X: 1\r\n", "Content-Length: 1\r\n"]) {
    const events = decode(contentLength, [toBytes([field.repeat(4_000), "\r\n", contentLength.encode("1").repeat(2)])]);
    const refusals = events.flatMap(({ refusal }) => refusal ?? []);
    expect(refusals.length).toBeGreaterThan(4);
    expect(refusals.every(({ reason, head }) => reason === "bad-header" && head.length <= 4_096)).toBe(true);
    expect(events.at(-1)).toEqual({ frame: "1" });
  }
});

test("a pretty-printed text is one line", () => {
  expect(lines.encode('{\r\n  "a": "\\n"\n}')).toBe('{    "a": "\\n" }\n');
});

test("a length counts the bytes that will be written, also of a lone surrogate", () => {
  for (const text of ["", "abc", "é漢😀", "\ud800x", "x\udc00", "😀".repeat(9_000), `${"x".repeat(16_383)}漢`]) {
    expect(contentLength.encode(text)).toBe(`Content-Length: ${new TextEncoder().encode(text).length}\r\n\r\n${text}`);
  }
});

test.each<{ framing: Framing; wire: Wire; message: string }>([
  {
    framing: lines,
    wire: ["12345\n"],
    message: "received a line of 5 bytes, more than the 4 allowed; it was skipped",
  },
  {
    framing: lines,
    wire: ["12", [0xff], "\n"],
    message: "received a line of 3 bytes that is not UTF-8; it was skipped",
  },
  {
    framing: lines,
    wire: ["12"],
    message: "the stream ended in a line: 2 bytes without a newline were dropped",
  },
  {
    framing: contentLength,
    wire: ["Content-Length: 5\n\n12345"],
    message: "received Content-Length 5, more than the 4 allowed; its body of 5 bytes was skipped",
  },
  {
    framing: contentLength,
    wire: ["Content-Length: 1\x1b[2J\n\n"],
    message: 'received Content-Length "1?[2J", which is not a plain number; the next header is looked for',
  },
  {
    framing: contentLength,
    wire: ["X: 1\n\n"],
    message: "received a header without Content-Length; the next header is looked for",
  },
  {
    framing: contentLength,
    wire: ["Content-Length: 1\nContent-Length: 2\n\n"],
    message: "received Content-Length 1 and 2 in one header; the next header is looked for",
  },
  {
    framing: contentLength,
    wire: ["Content-Length: 2000000000\n\n"],
    message:
      'received Content-Length "2000000000", more than the 1073741824 a header may claim; the next header is looked for',
  },
  {
    framing: contentLength,
    wire: ["Content-Type: a/b; charset=latin1\nContent-Length: 2\n\n12"],
    message: 'received charset "latin1", which is not UTF-8; its body of 2 bytes was skipped',
  },
  {
    framing: contentLength,
    wire: ["log line\n"],
    message: "received 8 bytes that are no header; the next header is looked for",
  },
  {
    framing: contentLength,
    wire: ["Content-Length: 2\n\n", [0xff, 0xff]],
    message: "received a body of 2 bytes that is not UTF-8; it was skipped",
  },
  {
    framing: contentLength,
    wire: ["Content-Length: 4\n\n12"],
    message: "the stream ended after 2 of the 4 bytes of a body; they were dropped",
  },
  {
    framing: contentLength,
    wire: ["Content-Length: 4\nX"],
    message: "the stream ended in a header: 19 bytes were dropped",
  },
])("$framing.name: $message", ({ framing, wire, message }) => {
  expect(decode(framing, [toBytes(wire)], 4)[0]?.refusal?.message).toBe(message);
});

type Event =
  | { readonly frame: string; readonly refusal?: never }
  | { readonly frame?: never; readonly refusal: FrameRefusal };

function open(framing: Framing, max = 64) {
  const events: Event[] = [];
  const sink: FrameSink = {
    frame: (frame) => void events.push({ frame }),
    refuse: (refusal) => void events.push({ refusal }),
  };
  return { decoder: framing.decoder(sink, max), events };
}

function decode(framing: Framing, chunks: readonly Uint8Array[], max?: number): readonly Event[] {
  const { decoder, events } = open(framing, max);
  for (const chunk of chunks) decoder.push(chunk);
  decoder.end();
  return events;
}

function shown({ frame, refusal }: Event): string {
  return refusal === undefined ? frame : `!${refusal.reason} ${refusal.bytes} "${refusal.head}"`;
}

function toBytes(wire: Wire): Uint8Array {
  const parts = wire.map((part) => (typeof part === "string" ? new TextEncoder().encode(part) : Uint8Array.from(part)));
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function cutAt(stream: Uint8Array, size: number): readonly Uint8Array[] {
  return cutBy(stream, [size]);
}

/** Chunks of these sizes, over and over; sizes of 0 give empty chunks. */
function cutBy(stream: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  const round = sizes.some((size) => size > 0) ? sizes : [...sizes, 1];
  for (let at = 0, turn = 0; at < stream.length; turn += 1) {
    const size = round[turn % round.length] ?? 1;
    chunks.push(stream.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

function memory(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe("the beginning of a frame whose end is missing", () => {
  const newline = "the newline that ends it";
  test.each<{ framing: Framing; wire: Wire; bytes?: number; head?: string; missing?: string }>([
    { framing: lines, wire: ["1\n"] },
    { framing: lines, wire: ["1\n", "  "] },
    { framing: lines, wire: ["1\n", '{"a"', ":1}"], bytes: 7, head: '{"a":1}', missing: newline },
    { framing: lines, wire: [mark, "12"], bytes: 2, head: "12", missing: newline },
    { framing: lines, wire: ["x".repeat(70_000)], bytes: 70_000, head: "x".repeat(65_536), missing: newline },
    { framing: lines, wire: ["x".repeat(300_000)], bytes: 300_000, head: "x".repeat(65_536), missing: newline },
    { framing: contentLength, wire: ["Content-Length: 1\r\n\r\n1"] },
    {
      framing: contentLength,
      wire: ["Content-Length: 9\r\n\r\n", "12"],
      bytes: 2,
      head: "12",
      missing: "the rest of its 9 bytes",
    },
    {
      framing: contentLength,
      wire: ["Content-Length: 9\r\nX"],
      bytes: 20,
      head: "Content-Length: 9\r\nX",
      missing: "the empty line that ends a header",
    },
  ])("$framing.name: $wire", ({ framing, wire, ...unfinished }) => {
    const { decoder, events } = open(framing, 100_000);
    for (const part of wire) decoder.push(toBytes([part]));
    expect(decoder.unfinished).toEqual(unfinished.bytes === undefined ? undefined : unfinished);
    decoder.end();
    expect(decoder.unfinished).toBeUndefined();
    expect(events.filter(({ refusal }) => refusal !== undefined)).toHaveLength(unfinished.bytes === undefined ? 0 : 1);
  });
});
