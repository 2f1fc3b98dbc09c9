import { EventCutter } from "@parlance/wire";
import { expect, test } from "vitest";

/** Bytes that count how many of them are looked at. */
class Counted extends Uint8Array {
  static looks = 0;

  override indexOf(byte: number, from = 0): number {
    const at = super.indexOf(byte, from);
    Counted.looks += (at < 0 ? this.length : at + 1) - from;
    return at;
  }
}

/** The bytes that are looked at to find the events of a text. */
function looksOf(text: string): number {
  Counted.looks = 0;
  new EventCutter().push(Counted.from(new TextEncoder().encode(text)), 0);
  return Counted.looks;
}

test.each(["\n", "\r", "\r\n"])("the work for events with the line break %j grows with their bytes", (end) => {
  const text = (lines: number): string => `data: 1${end}`.repeat(lines) + end;
  expect(looksOf(text(4_000))).toBeLessThanOrEqual(4.5 * looksOf(text(1_000)));
});
