import { decodeUtf8 } from "@parlance/mcp/protocol";
import type { ByteRange, JsonNode } from "../json/json-node.js";

const encoder = new TextEncoder();
/** One character for each byte, so that offsets in the text are byte offsets. */
const bytewise = new TextDecoder("latin1");

/** U+2588 in UTF-8. */
const block: readonly number[] = [0xe2, 0x96, 0x88];
const star = 0x2a;
const zero = 0x30;
const one = 0x31;
const nine = 0x39;

/**
 * Covers ranges of bytes and keeps their length: every three bytes become one █, and the one or two left over a `*` each. Offsets
 * after a range stay valid, and a piece of a JSON string stays one.
 */
export function cover(bytes: Uint8Array, ranges: readonly ByteRange[]): Uint8Array {
  if (ranges.length === 0) return bytes;
  const covered = bytes.slice();
  for (const [start, end] of ranges) {
    const wholeEnd = end - ((end - start) % block.length);
    for (let at = start; at < wholeEnd; at += block.length) covered.set(block, at);
    covered.fill(star, wholeEnd, end);
  }
  return covered;
}

/** Covers a whole text. */
export function coverText(text: string): string {
  const bytes = encoder.encode(text);
  return new TextDecoder().decode(cover(bytes, [[0, bytes.length]]));
}

/** Replaces every digit of a number by 1: it stays a number of the same length. */
export function coverDigits(bytes: Uint8Array, ranges: readonly ByteRange[]): void {
  for (const [start, end] of ranges)
    for (let at = start; at < end; at += 1) {
      const code = bytes[at] ?? 0;
      if (code >= zero && code <= nine) bytes[at] = one;
    }
}

/** The ranges of pattern matches in a range of bytes. */
export function found(patterns: readonly RegExp[], bytes: Uint8Array, [from, to]: ByteRange): readonly ByteRange[] {
  const piece = bytes.subarray(from, to);
  const text = decodeUtf8(piece);
  const written = text ?? bytewise.decode(piece);
  return patterns.flatMap((pattern) => {
    let [index, offset] = [0, from];
    // From one match to the next: a text with many matches is counted only once.
    const offsetOf = (next: number): number => {
      offset += text === undefined ? next - index : encoder.encode(written.slice(index, next)).length;
      index = next;
      return offset;
    };
    return Array.from(written.matchAll(pattern), ({ 0: match, index: at }): ByteRange => {
      const start = offsetOf(at);
      return [start, offsetOf(at + match.length)];
    }).filter(([start, end]) => end > start);
  });
}

/** Ranges in order, with adjacent ones merged. */
export function merged(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const all: ByteRange[] = [];
  for (const range of [...ranges].sort(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last !== undefined && range[0] <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], range[1])];
    else all.push(range);
  }
  return all;
}

const escapes = /\\(?:u[0-9a-fA-F]{4}|.)/g;

/** A range of a JSON string, extended so that it cuts no escape. */
export function withWholeEscapes(range: ByteRange, { start, end }: JsonNode, bytes: Uint8Array): ByteRange {
  let [from, to] = range;
  for (const { 0: written, index } of bytewise.decode(bytes.subarray(start, end)).matchAll(escapes)) {
    const [first, behind] = [start + index, start + index + written.length];
    if (first < to && behind > from) [from, to] = [Math.min(first, from), Math.max(behind, to)];
  }
  return [from, to];
}
