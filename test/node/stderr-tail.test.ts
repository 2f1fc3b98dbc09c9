import fc from "fast-check";
import { expect, test } from "vitest";
import { StderrTail } from "../../packages/mcp/src/node/process/child-process.js";

function tailOf(...chunks: readonly (string | Uint8Array)[]): string {
  const tail = new StderrTail();
  for (const chunk of chunks) tail.push(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
  return tail.text;
}

test("the last 20 lines are kept, without the empty ones", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  expect(tailOf(lines.join("\r\n\n"))).toBe(lines.slice(10).join("\n"));
});

test("a line is cut to 8 Ki characters", () => {
  expect(tailOf(`first\n${"x".repeat(10_000)}`)).toBe(`first\n${"x".repeat(8_192)}`);
});

test("of a chunk larger than the bound the end is kept", () => {
  expect(tailOf(`${"x".repeat(200_000)}\nthe end`)).toBe(`${"x".repeat(8_192)}\nthe end`);
});

test("characters may be split between chunks", () => {
  const bytes = new TextEncoder().encode("é漢😀");
  expect(tailOf(...[...bytes].map((byte) => Uint8Array.of(byte)))).toBe("é漢😀");
});

test("however the bytes are cut into chunks, the end of them is kept", () => {
  const chunk = fc.integer({ min: 0, max: 90_000 });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), (sizes) => {
      const chunks = sizes.map((size, index) => `${index}`.repeat(size).replace(/.{80}/g, "$&\n"));
      const whole = chunks.join("").slice(-64 * 1024);
      const lines = whole.split("\n").filter((line) => line !== "");
      expect(tailOf(...chunks)).toBe(
        lines
          .slice(-20)
          .map((line) => line.slice(0, 8_192))
          .join("\n"),
      );
    }),
    { numRuns: 50 },
  );
});
