/** The most bytes one frame can have, whatever the limit says: more would not fit into a string of V8 (2^29 - 24). */
const longestText = 0x1fff_ff00;

/** How much of what is given up is kept, so that an id can be looked for in it. */
export const headBytes: number = 64 * 1024;

// A mark is text like any other here: `decode` would drop it at the start of each call, so wherever a chunk happens to start.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const loose = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
const scratch = new Uint8Array(16 * 1024);

/** The text of `bytes`, or undefined when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    // A fatal decoder has no other way to say no.
    return undefined;
  }
}

/** The first 64 KiB as text for a person: U+FFFD for what is not UTF-8, but no half of a character at the cut. */
export function headOf(bytes: Uint8Array): string {
  if (bytes.length < headBytes) return loose.decode(bytes);
  // As a stream, because a decoder keeps back the character that a stream has not finished.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, headBytes), { stream: true });
}

/** How many bytes `text` is in UTF-8; a lone surrogate is written as U+FFFD and counts as that. */
export function utf8Length(text: string): number {
  // Encoding into a buffer that is thrown away beats a loop over the characters at every length.
  let bytes = 0;
  for (let rest = text; ; ) {
    const { read, written } = encoder.encodeInto(rest, scratch);
    bytes += written;
    if (read === rest.length) return bytes;
    rest = rest.slice(read);
  }
}

/** `maxBytes` as the bound of one frame that can be decoded. */
export function frameBound(maxBytes: number): number {
  if (!(maxBytes >= 1)) throw new RangeError(`the longest frame must have at least 1 byte, got a limit of ${maxBytes}`);
  return Math.min(maxBytes, longestText);
}

/** True for bytes that are JSON white space throughout. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === 0x0a);
}
