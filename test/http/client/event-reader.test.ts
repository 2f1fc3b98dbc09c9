import { createFakeClock } from "@parlance/mcp/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEvents, type StreamEvent } from "../../../packages/mcp/src/http/client/event-reader.js";

/** The visible parts of an event stream: an event as `[id, type, data]`, a `retry` as its number. */
type Seen = readonly [id: string | undefined, type: string | undefined, data: string] | number;

const max = 64;
const clock = createFakeClock();

async function read(chunks: Iterable<Uint8Array>, maxBytes = max): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  const take = ({ id, event, data }: StreamEvent): void => void seen.push([id, event, data]);
  const onRetry = (milliseconds: number): void => void seen.push(milliseconds);
  const { signal } = new AbortController();
  await readEvents(new Response(streamOf(chunks)), { what: "a stream", maxBytes, signal, clock, onRetry }, take);
  return seen;
}

/** A body that is made as it is read. */
function streamOf(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const left = chunks[Symbol.iterator]();
  const source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> = {
    pull(controller) {
      const { done, value } = left.next();
      if (done) controller.close();
      else controller.enqueue(Uint8Array.from(value));
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function cut(bytes: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + (sizes[chunks.length % sizes.length] ?? 1);
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}

const streams: Readonly<Record<string, readonly [text: string, seen: readonly Seen[]]>> = {
  nothing: ["", []],
  "an event": ["data: a\n\n", [[undefined, undefined, "a"]]],
  "an event with everything": ["event: message\nid: 7\nretry: 500\ndata: a\n\n", [500, ["7", "message", "a"]]],
  "one leading space is no part of a value": ["data:  a \n\n", [[undefined, undefined, " a "]]],
  "no space is needed": ["data:a\n\n", [[undefined, undefined, "a"]]],
  "lines of data": ["data: a\ndata\ndata: b\n\n", [[undefined, undefined, "a\n\nb"]]],
  "empty data: the cursor of a stream to be polled": ["id: 1\ndata:\n\n", [["1", undefined, ""]]],
  "without data there is no event": ["event: a\n\ndata: b\n\n", [[undefined, undefined, "b"]]],
  "an id belongs to its own event": [
    "id: 1\ndata: a\n\ndata: b\n\n",
    [
      ["1", undefined, "a"],
      [undefined, undefined, "b"],
    ],
  ],
  "comments, unknown fields": [": a\n:\nfoo: 1\ndata: a\n: b\n\n", [[undefined, undefined, "a"]]],
  "carriage returns": [
    "id: 1\rdata: a\rdata: b\r\rdata: c\r\r",
    [
      ["1", undefined, "a\nb"],
      [undefined, undefined, "c"],
    ],
  ],
  "line feeds behind them": [
    "id: 1\r\ndata: a\r\n\r\ndata: b\r\n\r\n",
    [
      ["1", undefined, "a"],
      [undefined, undefined, "b"],
    ],
  ],
  "all of them": [
    "data: a\rdata: b\r\ndata: c\n\r\ndata: d\r\n\r",
    [
      [undefined, undefined, "a\nb\nc"],
      [undefined, undefined, "d"],
    ],
  ],
  "what the end cuts off": ["data: a\n\ndata: b\n", [[undefined, undefined, "a"]]],
  "a byte order mark": ["\ufeffdata: a\n\n", [[undefined, undefined, "a"]]],
  "a second mark is text": ["\ufeff\ufeffdata: a\n\ndata: \ufeffb\n\n", [[undefined, undefined, "\ufeffb"]]],
  "characters of several bytes": ["data: é漢😀\n\n", [[undefined, undefined, "é漢😀"]]],
  // S42: what ends a line elsewhere does not end one here.
  "other line ends are text": [
    "data: a\u2028b\u2029c\u0085d\u000be\u000cf\0g\n\n",
    [[undefined, undefined, "a\u2028b\u2029c\u0085d\u000be\u000cf\0g"]],
  ],
  "an id with a NUL is none": ["id: a\0b\ndata: c\n\n", [[undefined, undefined, "c"]]],
  "a retry that is no number": [
    "retry: 1e3\nretry: -1\nretry:\nretry: 5\ndata: a\n\n",
    [5, [undefined, undefined, "a"]],
  ],
  "data as long as it may be": [`data: ${"é".repeat(max / 2)}\n\n`, [[undefined, undefined, "é".repeat(max / 2)]]],
};

describe("the same in one chunk, in two at every byte, in single bytes:", () => {
  test.each(Object.entries(streams))("%s", async (_name, [text, seen]) => {
    const bytes = bytesOf(text);
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await read([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(seen);
    }
    expect(await read(cut(bytes, [1])), "single bytes").toEqual(seen);
  });
});

const lineEnds = fc.constantFrom("\n", "\r", "\r\n");
const values = fc.constantFrom("", "a", " b", "é漢😀", '{"a":1}', "\u2028", "x: y", "12");
const lines = fc.oneof(
  fc.constant(""),
  fc
    .tuple(fc.constantFrom("data", "id", "event", "retry", "", "foo"), fc.constantFrom(":", ": "), values)
    .map((parts) => parts.join("")),
  fc.constantFrom("data", "id", "retry"),
);
const texts = fc.array(fc.tuple(lines, lineEnds), { maxLength: 24 }).map((each) => each.flat().join(""));
const chunkSizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 });

test("any lines give the same in any chunks, and with any line ends", async () => {
  const large = 4_096;
  await fc.assert(
    fc.asyncProperty(texts, chunkSizes, async (text, sizes) => {
      const whole = await read([bytesOf(text)], large);
      expect(await read(cut(bytesOf(text), sizes), large)).toEqual(whole);
      // A last carriage return could be half of a line end; what it ends is complete all the same.
      expect(await read(cut(bytesOf(text.replace(/\r\n?/g, "\n")), sizes), large)).toEqual(whole);
    }),
  );
});

test("an event that ends with a carriage return is there before anything follows it", async () => {
  const seen: string[] = [];
  function* chunks(): Generator<Uint8Array> {
    yield bytesOf("data: a\r\r");
    seen.push("the next chunk is asked for");
    yield bytesOf("data: b\r\r");
  }
  const { signal } = new AbortController();
  const body = new Response(streamOf(chunks()));
  await readEvents(body, { what: "a stream", maxBytes: max, signal, clock }, ({ data }) => void seen.push(data));
  expect(seen).toEqual(["a", "the next chunk is asked for", "b"]);
});

describe("too much for one event ends the stream, in any chunks:", () => {
  const tooLong = { reason: "protocol", message: "a stream: received an event of more than 64 bytes or 200000 lines" };

  test.each([
    ["one byte too many", `data: ${"x".repeat(max + 1)}\n\n`],
    ["of characters of two bytes", `data: ${"é".repeat(max / 2)}x\n\n`],
    ["of several lines", `${`data: ${"x".repeat(10)}\n`.repeat(6)}\n`],
    ["behind a sound one", `data: a\n\ndata: ${"x".repeat(max + 1)}\n\n`],
  ])("%s", async (_name, text) => {
    const bytes = bytesOf(text);
    for (const sizes of [[bytes.length], [1], [7]]) {
      await expect(read(cut(bytes, sizes))).rejects.toMatchObject(tooLong);
    }
  });

  const chunkBytes = 65_536;

  /** How many bytes of a text without end are read before the stream is given up. */
  async function readOf(text: string, maxBytes: number): Promise<number> {
    let chunks = 0;
    const chunk = bytesOf(text.repeat(Math.ceil(chunkBytes / text.length)));
    function* flood(): Generator<Uint8Array> {
      for (; chunks < 2 ** 14; chunks += 1) yield chunk;
    }
    await expect(read(flood(), maxBytes)).rejects.toMatchObject({ reason: "protocol" });
    return chunks * chunkBytes;
  }

  test.each([
    ["a line without an end", "data: xxxxxxxxxx", 3],
    ["a field without an end", "x", 3],
    ["lines without data", "data:\n", 8],
    ["lines with a little of it", "data:x\r", 8],
    ["unknown fields", "x\n", 2],
    ["unknown fields, in events", "x\ndata:\n\n", 4],
  ])("%s", async (_name, text, chunks) => {
    expect(await readOf(text, chunkBytes)).toBeLessThan(chunks * chunkBytes);
  });

  test("lines of next to nothing, each of which is an object, wherever chunks end", async () => {
    for (const text of ["data:x\n", "\ndata:x", "a:x\nd"]) {
      expect(await readOf(text, 16 * 1024 * 1024)).toBeLessThan(2 * 1024 * 1024);
    }
  });

  test("but a stream may have any number of lines", async () => {
    const beats = bytesOf(":\n\n".repeat(125_000));
    expect(await read([beats, beats, bytesOf("data: a\n\n")])).toEqual([[undefined, undefined, "a"]]);
  });
});

test.each([
  ["no UTF-8", [0x64, 0xff]],
  ["a half of a surrogate", [0xed, 0xa0, 0x80]],
])("%s is no event stream", async (_name, bytes) => {
  await expect(read([Uint8Array.from(bytes)])).rejects.toMatchObject({
    reason: "protocol",
    message: "a stream: received an event stream that is not UTF-8",
  });
});
