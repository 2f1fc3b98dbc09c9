import { Conversation, type Entry, encodeEntry, type Recording, readRecording } from "@parlance/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exampleEntries, recordingText } from "./example-recording.js";
import { header, recorded } from "./recorded.js";

const encoder = new TextEncoder();
const short = encoder.encode([0, 1, 6, 13, 14].map((index) => encodeEntry(exampleEntries[index] as Entry)).join("")); // It has fifteen.
const shortLines = linesOf(short);

function linesOf(bytes: Uint8Array): readonly string[] {
  return new TextDecoder().decode(bytes).split("\n").slice(0, -1);
}

/** The lines that a reading has taken, as they were written. */
function taken({ entries }: Recording): readonly string[] {
  return entries.map((entry) => JSON.stringify(entry));
}

function withoutSum(line: string): string {
  return JSON.stringify({ ...(JSON.parse(line) as object), crc: undefined });
}

/** Flips a bit, reads, and says what does not hold of it: every other line is read, and the damage is named at its line. */
function wrongAfterFlip(bytes: Uint8Array, lines: readonly string[], at: number, bit: number): string | undefined {
  const flipped = bytes.slice();
  flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
  const line = 1 + new TextDecoder("latin1").decode(bytes.subarray(0, at)).split("\n").length - 1;
  const isBreak = bytes[at] === 0x0a;
  const read = readRecording(flipped);
  const expected = lines.filter((_, index) => index + 1 !== line && !(isBreak && index === line)).map(withoutSum);
  const entries = new Set(taken(read));
  const lost = expected.find((each) => !entries.has(each));
  if (lost !== undefined) return `byte ${at} bit ${bit}: ${lost} is not read`;
  if (!read.damages.some((damage) => damage.line === line))
    return `byte ${at} bit ${bit}: nothing is said of line ${line}`;
  const known = new Set(lines.map(withoutSum));
  // A header is taken before a line with a checksum shows that it has lost its own.
  const changed = taken(read).find((each, index) => !known.has(each) && !(line === 1 && index === 0));
  return changed === undefined ? undefined : `byte ${at} bit ${bit}: ${changed} was never written`;
}

describe("a recording in which one bit has changed", () => {
  test("has all its other lines, and the damage is named: every bit of a short one", () => {
    const wrong: string[] = [];
    for (let at = 0; at < short.length; at += 1)
      for (let bit = 0; bit < 8; bit += 1) {
        const says = wrongAfterFlip(short, shortLines, at, bit);
        if (says !== undefined) wrong.push(says);
      }
    expect(wrong).toEqual([]);
  });

  test("has all its other lines, and the damage is named: some bits of a long one", () => {
    const said = Array.from({ length: 300 }, (_, id) => `→ {"jsonrpc":"2.0","id":${id},"method":"ping"}` as const);
    const long = encoder.encode([header, ...recorded(...said)].map(encodeEntry).join(""));
    const lines = linesOf(long);
    fc.assert(
      fc.property(fc.nat(long.length - 1), fc.nat(7), (at, bit) => {
        expect(wrongAfterFlip(long, lines, at, bit)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });
});

test("a recording that breaks off at any byte of its last line has all lines before it", () => {
  const last = short.lastIndexOf(0x0a, short.length - 2) + 1;
  for (let end = last; end < short.length; end += 1) {
    const read = readRecording(short.subarray(0, end));
    const isWhole = end >= short.length - 1;
    expect(taken(read)).toEqual(shortLines.slice(0, isWhole ? undefined : -1).map(withoutSum));
    const damages = read.damages.map(({ line, offset, bytes, torn }) => ({ line, offset, bytes, torn }));
    const cut = { line: shortLines.length, offset: last, bytes: end - last, torn: true };
    expect(damages).toEqual(isWhole || end === last ? [] : [cut]);
  }
});

test("lines without checksums are taken as they are, where no line has one", () => {
  const written = exampleEntries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  expect(readRecording(encoder.encode(written)).damages).toEqual([]);
});

test("a recording that does not begin with a header is reported", () => {
  const { entries, damages } = readRecording(encoder.encode(exampleEntries.slice(1).map(encodeEntry).join("")));
  expect(entries).toHaveLength(exampleEntries.length - 1);
  expect(damages.map(({ line, says }) => `${line} ${says}`)).toEqual([
    "1 it is not a header, and a recording begins with one",
  ]);
});

test("what is damaged does not keep the rest from being judged", () => {
  const text = recordingText(exampleEntries).replace("search", "saerch");
  const { entries, damages } = readRecording(encoder.encode(text));
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  expect(damages.map(({ line }) => line)).toEqual([6]);
  expect(conversation.verdicts.map(({ rule, n }) => `${rule.id} ${n}`)).toContain("S-2 7");
});
