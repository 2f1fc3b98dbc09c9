import {
  type ConnectionOptions,
  contentLength,
  encode,
  type Framing,
  lines,
  openConnection,
  serverLimits,
} from "@parlance/mcp/jsonrpc";
import { createFakeClock } from "@parlance/mcp/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { baseProfile, mcpBatchProfile, mcpProfile } from "../../packages/mcp/src/jsonrpc/profile.js";
import { runs } from "../testing/forms.js";
import { messages } from "./arbitraries.js";
import { byteChannel } from "./conversation/byte-channel.js";
import { judge } from "./reference.js";

const frameBytes = 200;
const profiles = fc.constantFrom(baseProfile, mcpProfile, mcpBatchProfile);
const chunkSizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 12 });

function piecesFor(framing: Framing): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc
      .constantFrom(
        "\n",
        "\r\n",
        "\r\n\r\n",
        "{",
        "[[[[",
        '"id":1,',
        "Content-Length: 5\r\n\r\n",
        "Content-Length: ",
        "\ufeff",
      )
      .map(bytesOf),
    messages.map((message) => bytesOf(framing.encode(encode(message)))),
    fc.array(messages, { maxLength: 4 }).map((batch) => bytesOf(framing.encode(encode(batch)))),
    fc.tuple(messages, fc.nat(), fc.nat(255)).map(([message, place, byte]) => {
      const bytes = bytesOf(framing.encode(encode(message)));
      bytes[place % bytes.length] = byte;
      return bytes;
    }),
    fc
      .integer({ min: frameBytes, max: 2_000 })
      .map((length) => bytesOf(framing.encode(`{"id":7,"method":"${"x".repeat(length)}"}`))),
  );
}

describe.each([lines, contentLength])("$name: any bytes into a connection", (framing) => {
  test("give answers that are responses, and leave nothing under way", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(piecesFor(framing), { maxLength: 12 }),
        chunkSizes,
        profiles,
        async (pieces, sizes, profile) => {
          const { connection, channel, clock } = talk(framing, { profile });
          for (const chunk of cut(joined(pieces), sizes)) channel.push(chunk);
          await turn();
          channel.end();
          expect(await connection.closed).toEqual({ reason: "ended" });
          expect(connection.inFlight).toEqual({ outgoing: 0, incoming: 0, waiting: 0, running: 0 });
          expect(clock.armed).toBe(0);
          for (const frame of channel.sent) expectResponses(frame);
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  test("are answered the same in one chunk and in many", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piecesFor(framing), { maxLength: 8 }), chunkSizes, async (pieces, sizes) => {
        const whole = joined(pieces);
        const [one, many] = [talk(framing), talk(framing)];
        one.channel.push(whole);
        for (const chunk of cut(whole, sizes)) many.channel.push(chunk);
        await turn();
        expect(many.channel.sent).toEqual(one.channel.sent);
      }),
      { numRuns: runs(300) },
    );
  });

  test("end in a connection that is closed when oversized frames do not stop", async () => {
    const { connection, channel } = talk(framing, { limits: { frameBytes, oversizedPerMinute: 3 } });
    const oversized = bytesOf(framing.encode("x".repeat(frameBytes + 1)));
    for (let count = 0; count < 10; count += 1) channel.push(oversized);
    expect((await connection.closed).reason).toBe("refused");
    expect(channel.sent).toHaveLength(3);
  });
});

test("lines: whatever came before it, the next line is answered", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piecesFor(lines), { maxLength: 12 }), chunkSizes, async (pieces, sizes) => {
      const { channel } = talk(lines);
      for (const chunk of cut(joined(pieces), sizes)) channel.push(chunk);
      channel.push(bytesOf('\n{"jsonrpc":"2.0","id":"alive","method":"echo","params":[1]}\n'));
      await turn();
      expect(channel.sent).toContain('{"jsonrpc":"2.0","id":"alive","result":[1]}');
    }),
    { numRuns: runs(500) },
  );
});

const megabyte = 1024 * 1024;

describe.each([lines, contentLength])("$name: a frame of 64 MB where 1 MB is allowed", (framing) => {
  test.each([
    {
      name: "a request with its id in front",
      head: '{"jsonrpc":"2.0","id":"big","method":"echo","params":["',
      answers: ['"big"'],
    },
    { name: "a request with its id behind", head: '{"jsonrpc":"2.0","method":"echo","params":["', answers: ["null"] },
    {
      name: "a request with an exact id",
      head: '{"id":9007199254740993,"method":"echo","params":["',
      answers: ["9007199254740993"],
    },
    { name: "a response", head: '{"jsonrpc":"2.0","id":5,"result":"', answers: [] },
    { name: "a failure", head: '{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"', answers: [] },
    { name: "no JSON", head: "log: ", answers: ["null"] },
  ])("$name: is answered once, passes in constant memory, and the next frame is answered", ({ head, answers }) => {
    const { channel, connection } = talk(framing, { limits: { frameBytes: megabyte } }, megabyte);
    const chunk = new Uint8Array(64 * 1024).fill(0x61);
    const size = 64 * megabyte;
    channel.push(bytesOf(framing === lines ? head : `Content-Length: ${head.length + size}\r\n\r\n${head}`));
    const before = memory();
    let most = 0;
    for (let pushed = 0; pushed < size; pushed += chunk.length) {
      channel.push(chunk);
      most = Math.max(most, memory() - before);
    }
    expect(most).toBeLessThan(16 * megabyte);
    channel.push(
      bytesOf(
        `${framing === lines ? "\n" : ""}${framing.encode('{"jsonrpc":"2.0","id":2,"method":"echo","params":[]}')}`,
      ),
    );
    expect(channel.sent.map(idText)).toEqual([...answers, "2"]);
    expect(connection.phase).toBe("open");
  });
});

function talk(framing: Framing, options: ConnectionOptions = {}, longest: number = frameBytes) {
  const channel = byteChannel(framing, longest);
  const clock = createFakeClock();
  const connection = openConnection(channel, {
    handle: (method, params) => (method === "" ? Promise.reject(params) : params),
    limits: { oversizedPerMinute: Number.POSITIVE_INFINITY, frameBytes: longest },
    clock,
    ...options,
  });
  return { channel, connection, clock };
}

function expectResponses(frame: string): void {
  const parsed: unknown = JSON.parse(frame);
  if (Array.isArray(parsed)) expect(parsed.length).toBeGreaterThan(0);
  for (const each of Array.isArray(parsed) ? parsed : [parsed]) {
    expect(["success", "failure"], frame).toContain(judge(each, baseProfile, serverLimits).kind);
  }
}

function idText(answer: string): string {
  return /^\{"jsonrpc":"2.0","id":("[^"]*"|[^,]*),/.exec(answer)?.[1] ?? answer;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}

function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turns = 0; at < bytes.length; turns += 1) {
    const size = sizes[turns % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Lets everything that is on its way arrive, without time. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function memory(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
