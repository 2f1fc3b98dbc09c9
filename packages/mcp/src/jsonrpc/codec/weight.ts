import type { Message } from "../message.js";

/** Bytes that a character of a string takes: V8 stores Latin-1 in one, anything else in two. */
export const characterBytes = 2;

/** Bytes of a parsed value besides its characters: an empty object, the largest of them, takes 56 and a slot of 8. */
const valueBytes = 64;

/** Bytes of a call itself: its record, its promise, its place in the maps. */
const callBytes = 1_024;

/** A frame so short is not looked into: looking would cost more than the frame. */
const shortFrame = 1_024;

/** What a character of a short frame stands for at most: `{},` is three of them, and 64 bytes in memory. */
const shortFrameFactor = 24;

/** Bytes that a text takes while it is queued or kept. */
export function weightOfText({ length }: string): number {
  return characterBytes * length;
}

/** Bytes that a message takes from its arrival to the end of its handler. `length`: the characters of its frame. */
export function weightOfMessage(message: Message, length: number): number {
  return callBytes + (length <= shortFrame ? shortFrameFactor * length : weightOfValue(message));
}

/** Bytes that a parsed JSON value takes: 64 for each value in it, and two for each character of its strings and keys. */
export function weightOfValue(value: unknown): number {
  let bytes = 0;
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === "string") bytes += weightOfText(next);
    else if (Array.isArray(next)) for (const element of next) left.push(element);
    else if (typeof next === "object" && next !== null) {
      const members = next as Readonly<Record<string, unknown>>;
      // Parsed objects inherit nothing that is enumerable.
      for (const key in members) {
        bytes += weightOfText(key);
        left.push(members[key]);
      }
    }
    bytes += valueBytes;
  }
  return bytes;
}
