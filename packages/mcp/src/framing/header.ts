/** The longest header block. A block of fields this long serves nobody, and it is kept until its end is known. */
export const headerBytes: number = 4 * 1024;

/**
 * The longest body a header may claim (1 GiB). A longer claim is taken for damage: to believe it would be to
 * swallow every frame that follows for as long as the stream lives.
 */
const longestClaim = 1024 * 1024 * 1024;

/** What a header block says. With a length the body can be skipped, even when there is a problem. */
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

/** The field in one header line, or undefined when the line is no field. */
export function readField(line: string): Field | undefined {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(colon, 0));
  return token.test(name) ? { name: name.toLowerCase(), value: line.slice(colon + 1) } : undefined;
}

/**
 * The fields of one block, read strictly: a length is decimal digits and nothing else, two lengths must agree, and a
 * charset must be UTF-8 (`utf8` is what older language servers write). Other fields are passed over.
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

/** The `Content-Length` field that a line ends with, whatever runs into it; empty when there is none. */
export function lengthFieldAtEnd(tail: Uint8Array): string {
  // A field is ASCII: each of its characters is one byte.
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

/** A peer's text for a message: short, and nothing in it that a terminal would obey. */
function quote(text: string): string {
  const shown = text.trim().replace(/[^ -~]/g, "?");
  return shown.length > 40 ? `"${shown.slice(0, 40)}…"` : `"${shown}"`;
}
