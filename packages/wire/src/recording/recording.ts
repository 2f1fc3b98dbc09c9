import { escapeControls } from "@parlance/mcp/jsonrpc";
import { decodeUtf8, isObject, kindOf } from "@parlance/mcp/protocol";
import { areRecordedVerdicts } from "../rules/rule.js";
import type { Entry } from "./entry.js";
import { joined } from "./frame.js";

/** The place of a line in a recording. */
export interface LinePlace {
  /** From 1. */
  readonly line: number;
  /** The offset of the line in the file, in bytes. */
  readonly offset: number;
  /** The length of the line in bytes. */
  readonly bytes: number;
}

/** A line of a recording that cannot be used, and why. The lines around it are still used. */
export interface RecordingDamage extends LinePlace {
  /** Its fault. Safe to print. */
  readonly says: string;
  /** Whether it is an incomplete last line, as a killed recorder leaves it. */
  readonly torn: boolean;
}

/** One decoded line of a recording. */
export type RecordingItem =
  | {
      /** The entry. */
      readonly entry: Entry;
      /** The place of the entry in the file. */
      readonly place: LinePlace;
      readonly damage?: undefined;
    }
  | {
      /** A line that is not an entry, and why. */
      readonly damage: RecordingDamage;
      readonly entry?: undefined;
    };

/** Contents of a recording. */
export interface Recording {
  /** The entries, in order. */
  readonly entries: readonly Entry[];
  /** The lines that are not entries. */
  readonly damages: readonly RecordingDamage[];
}

const encoder = new TextEncoder();
const newline = 0x0a;
const sum = /,"crc":"([0-9a-f]{8})"\}$/;

/**
 * One line of a recording, with its line break. Its last member is the CRC-32 of the line before it, so that a changed byte is
 * found in its line. Lines without a checksum are accepted: people write recordings by hand, too.
 *
 * @example
 * for (const entry of entries) file.write(encodeEntry(entry));
 */
export function encodeEntry(entry: Entry): string {
  const open = JSON.stringify(entry).slice(0, -1);
  return `${open},"crc":"${crc32(encoder.encode(open))}"}\n`;
}

/**
 * Reads a whole recording. Never throws: unreadable lines are in `damages`.
 *
 * @example
 * const { entries, damages } = readRecording(await readFile("session.parlance.jsonl"));
 */
export function readRecording(bytes: Uint8Array): Recording {
  const decoder = new RecordingDecoder();
  const items = [...decoder.push(bytes), ...decoder.end()];
  return {
    entries: items.flatMap(({ entry }) => (entry === undefined ? [] : [entry])),
    damages: items.flatMap(({ damage }) => (damage === undefined ? [] : [damage])),
  };
}

/** Reads a recording chunk by chunk, as it grows. */
export class RecordingDecoder {
  #parts: Uint8Array[] = [];
  #line = 0;
  #offset = 0;
  #begun = false;
  /** Whether a line had a checksum; undefined before the first. */
  #summed: boolean | undefined;
  #unsummed: LinePlace | undefined;

  /** Takes the next bytes, and returns the lines that they complete. */
  push(chunk: Uint8Array): readonly RecordingItem[] {
    const items: RecordingItem[] = [];
    let from = 0;
    for (let to = chunk.indexOf(newline); to >= 0; to = chunk.indexOf(newline, from)) {
      this.#finish(chunk.subarray(from, to), false, items);
      from = to + 1;
    }
    // Copied, because the reader of a file reuses its buffer.
    if (from < chunk.length) this.#parts.push(chunk.slice(from));
    return items;
  }

  /** Ends the recording. Returns its last line, if it has no line break. */
  end(): readonly RecordingItem[] {
    const items: RecordingItem[] = [];
    if (this.#parts.length > 0) this.#finish(new Uint8Array(0), true, items);
    return items;
  }

  #finish(rest: Uint8Array, isLast: boolean, items: RecordingItem[]): void {
    const bytes = this.#parts.length === 0 ? rest : joined([...this.#parts, rest]);
    const place: LinePlace = { line: this.#line + 1, offset: this.#offset, bytes: bytes.length };
    this.#parts = [];
    this.#line += 1;
    this.#offset += bytes.length + 1;
    if (bytes.length === 0) return;
    const read = readLine(bytes);
    if (read.says !== undefined) {
      items.push({ damage: damageOf(place, read.says, isLast) });
      return;
    }
    const { entry, summed } = read;
    const isFirst = !this.#begun;
    this.#begun = true;
    if (entry.k === "hdr" && !isFirst) {
      items.push({ damage: damageOf(place, "it is a second header") });
      return;
    }
    if (entry.k !== "hdr" && place.line === 1)
      items.push({ damage: damageOf(place, "it is not a header, and a recording begins with one") });
    const unsummed = this.#missingSum(place, summed);
    if (unsummed !== undefined) items.push({ damage: unsummed });
    if (unsummed?.line !== place.line) items.push({ entry, place });
  }

  /** Either every line has a checksum or none has: a line without one was damaged. */
  #missingSum(place: LinePlace, summed: boolean): RecordingDamage | undefined {
    const before = this.#summed;
    this.#summed = before === true || summed;
    if (before === undefined && !summed) this.#unsummed = place;
    if (before === undefined || before === summed) return undefined;
    // The damaged line is this one; or the first, if this is the second.
    const damaged = summed ? this.#unsummed : place;
    this.#unsummed = undefined;
    return damaged && damageOf(damaged, "its checksum cannot be read");
  }
}

function damageOf(place: LinePlace, says: string, torn = false): RecordingDamage {
  return { ...place, says, torn };
}

interface ReadLine {
  readonly entry: Entry;
  readonly summed: boolean;
  readonly says?: undefined;
}

/** The entry of a line, or what is wrong with it. */
function readLine(bytes: Uint8Array): ReadLine | { readonly says: string } {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { says: "it is not UTF-8" };
  const [ending = "", expected] = sum.exec(text) ?? [];
  const open = ending === "" ? text : text.slice(0, -ending.length);
  // The ending is ASCII: its characters are its bytes.
  if (expected !== undefined && crc32(bytes.subarray(0, bytes.length - ending.length)) !== expected)
    return { says: "its bytes were changed: the checksum differs" };
  let value: unknown;
  try {
    value = JSON.parse(ending === "" ? text : `${open}}`);
  } catch {
    return { says: "it is not a whole JSON object" };
  }
  const says = faultOf(value);
  // `faultOf` has checked its members.
  return says === undefined ? { entry: value as Entry, summed: expected !== undefined } : { says };
}

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === "string";
const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime: Test = (value) => typeof value === "number" && Number.isFinite(value);
const isDirection: Test = (value) => value === "c2s" || value === "s2c";
const isBytes = (holder: Readonly<Record<string, unknown>>): boolean => isText(holder.raw) !== isText(holder.b64);

const observation = { n: isCount, s: isText, t: isTime };

/** The members that a line must have, by its kind. */
const required: ReadonlyMap<unknown, readonly (readonly [name: string, test: Test])[]> = new Map(
  Object.entries<Readonly<Record<string, Test>>>({
    hdr: { fmt: (value) => value === "parlance/1", id: isText, t0: isText },
    f: { ...observation, d: isDirection, ch: isText, len: isCount, nl: isText },
    e: observation,
    h: { ...observation, x: isCount, ph: isText },
    l: { ...observation, ev: isText },
    r: { t: isTime },
    a: { n: isCount, text: isText },
    gap: { t: isTime, lost: isCount, why: isText },
    end: { t: isTime, sha256: isText },
  }).map(([kind, tests]) => [kind, Object.entries(tests)]),
);

/** Why a value is not an entry; undefined for an entry. */
function faultOf(value: unknown): string | undefined {
  if (!isObject(value)) return `it must be an object, got ${kindOf(value)}`;
  if (value.crc !== undefined) return "its checksum cannot be read";
  const tests = required.get(value.k);
  if (tests === undefined)
    return `there is no line of the kind ${escapeControls(JSON.stringify(value.k) ?? "nothing")}`;
  const wrong = tests.find(([name, test]) => !test(value[name]));
  if (wrong !== undefined) return `its member "${wrong[0]}" is missing or cannot be that`;
  if ((value.k === "f" || value.k === "e") && !isBytes(value)) return 'it must have either "raw" or "b64"';
  if (value.v !== undefined && !areRecordedVerdicts(value.v)) return 'its member "v" is not a list of verdicts';
  return undefined;
}

/** The reversed polynomial of CRC-32 as gzip, PNG and Ethernet use it. */
const polynomial = 0xedb8_8320;

/** The number of bytes per step. */
const step = 4;

/** The change of the checksum by a byte: in the first row at once, in row n after n more bytes. */
const tables: Int32Array = tablesOf();

function tablesOf(): Int32Array {
  const rows = new Int32Array(256 * step);
  for (let at = 0; at < rows.length; at += 1) {
    let rest = at < 256 ? at : (rows[at - 256] ?? 0);
    for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
    rows[at] = rest;
  }
  return rows;
}

/** The CRC-32 of bytes, in eight hexadecimal digits. */
function crc32(bytes: Uint8Array): string {
  const end = bytes.length - (bytes.length % step);
  let crc = -1;
  let at = 0;
  for (; at < end; at += step) {
    crc ^= (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    crc =
      (tables[768 | (crc & 0xff)] ?? 0) ^
      (tables[512 | ((crc >>> 8) & 0xff)] ?? 0) ^
      (tables[256 | ((crc >>> 16) & 0xff)] ?? 0) ^
      (tables[crc >>> 24] ?? 0);
  }
  for (; at < bytes.length; at += 1) crc = (tables[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return (~crc >>> 0).toString(16).padStart(8, "0");
}
