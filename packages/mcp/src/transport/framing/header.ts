/** The maximum size of a header block. It is buffered until its end arrives, and no useful header is this long. */
export const headerBytes: number = 4 * 1024;

/**
 * The maximum length that a header may declare (1 GiB). A longer one is treated as damage: skipping that many bytes
 * would discard all following frames for the rest of the stream.
 */
const longestClaim = 1024 * 1024 * 1024;

/** The content of a header block. With a length, the body can be skipped even if there is a problem. */
type Header =
  | { readonly length: number; readonly problem?: string }
  | { readonly length?: undefined; readonly problem: string };

/** One header field. */
export interface Field {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const plainNumber = /^[ \t]*([0-9]+)[ \t]*\r?$/;
const charset = /;[ \t]*charset=("?)([^";\r]*)\1/i;
const utf8 = /^utf-?8[ \t]*$/i;
const lengthAtEnd = /content-length:[ \t]*[0-9]+[ \t]*\r?$/i;

/** Parses one header line; undefined if it is not a field. */
export function readField(line: string): Field | undefined {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(colon, 0));
  return token.test(name) ? { name: name.toLowerCase(), value: line.slice(colon + 1) } : undefined;
}

/**
 * Reads the fields of a header block strictly: a length consists of decimal digits, repeated lengths must agree, and
 * the charset must be UTF-8 (older language servers write `utf8`). Other fields are ignored.
 */
export function readHeader(fields: readonly Field[]): Header {
  let length: number | undefined;
  let problem: string | undefined;
  for (const { name, value } of fields) {
    if (name === "content-length") {
      const next = readLength(value);
      if (typeof next === "string") return { problem: next };
      if (length !== undefined && length !== next)
        return { problem: `Content-Length ${length} and ${next} in one header` };
      length = next;
    } else if (name === "content-type") {
      const named = charset.exec(value)?.[2];
      if (named !== undefined && !utf8.test(named)) problem = `charset ${quote(named)}, which is not UTF-8`;
    }
  }
  if (length === undefined) return { problem: "a header without Content-Length" };
  return problem === undefined ? { length } : { length, problem };
}

/** The `Content-Length` field at the end of a line, after any other bytes; empty if there is none. */
export function lengthFieldAtEnd(tail: Uint8Array): string {
  // A field is ASCII, so each character is one byte.
  return lengthAtEnd.exec(String.fromCharCode(...tail))?.[0] ?? "";
}

function readLength(value: string): number | string {
  const digits = plainNumber.exec(value)?.[1];
  if (digits === undefined) return `Content-Length ${quote(value)}, which is not a plain number`;
  const length = Number(digits);
  return length <= longestClaim
    ? length
    : `Content-Length ${quote(digits)}, more than the ${longestClaim} a header may claim`;
}

/** Quotes a peer's text for a message: shortened, with control characters escaped. */
function quote(text: string): string {
  const shown = text.trim().replace(/[^ -~]/g, "?");
  return shown.length > 40 ? `"${shown.slice(0, 40)}…"` : `"${shown}"`;
}
