import type { FrameDecoder, FrameRefusalReason, FrameSink, Framing, UnfinishedFrame } from "../../base/framing.js";
import { type ByteSpan, PartialFrame, tailOf } from "./partial-frame.js";
import { decodeUtf8, frameBound, headBytes, headOf, isBlank, skipByteOrderMark, utf8Length } from "./utf8.js";

const newline = 0x0a;
const carriageReturn = 0x0d;
const noLine: ByteSpan = { head: new Uint8Array(0), length: 0 };

/**
 * A `Content-Length` header before each frame, as in the base protocol of the Language Server Protocol
 * (https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#baseProtocol).
 * Header lines end with `\r\n` or `\n`; empty lines before a header and a byte order mark at the start of the stream
 * are skipped. A body is exactly the counted bytes: a byte order mark in it is text, which JSON parsers reject, and an
 * empty body is an empty frame.
 * A body that is too long or has another charset is skipped by its length and then reported as a fault. If the length
 * is unknown, or a line is not a header field, the bytes are reported line by line until the next header. That header
 * may start inside a line, because a body of unknown length runs into it.
 */
export const contentLength: Framing = {
  name: "content-length",
  encode(text: string): string {
    return `Content-Length: ${utf8Length(text)}\r\n\r\n${text}`;
  },
  decoder(sink: FrameSink, maxBytes: number): FrameDecoder {
    return skipByteOrderMark(new ContentLengthDecoder(sink, frameBound(maxBytes)));
  },
};

interface Fault {
  readonly reason: FrameRefusalReason;
  readonly message: string;
}

interface Body {
  readonly length: number;
  readonly bytes: PartialFrame;
  /** The fault of the header, if any: the body is then skipped and reported. */
  readonly fault: Fault | undefined;
}

/** A partial header. */
interface Block {
  readonly fields: Field[];
  /** The lines so far, and their length in bytes. */
  text: string;
  bytes: number;
}

class ContentLengthDecoder implements FrameDecoder {
  readonly #sink: FrameSink;
  readonly #max: number;
  /** The current, unfinished header line. If it is too long to be a field, only its head and tail are kept. */
  readonly #line = new PartialFrame(headBytes);
  /** The unfinished body, if it will be delivered. */
  readonly #content: PartialFrame;
  #block: Block = { fields: [], text: "", bytes: 0 };
  /** `lost`: the end of the faulty bytes is unknown, so a header may start inside a line. */
  #phase: "header" | "lost" = "header";
  #body: Body | undefined;

  constructor(sink: FrameSink, max: number) {
    this.#sink = sink;
    this.#max = max;
    this.#content = new PartialFrame(max, headBytes, sink.budget);
  }

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#body === undefined ? this.#readLine(chunk, at) : this.#readBody(this.#body, chunk, at);
    }
  }

  get unfinished(): UnfinishedFrame | undefined {
    if (this.#body !== undefined) {
      const { length, bytes } = this.#body;
      return { bytes: bytes.length, head: headOf(bytes.beginning), missing: `the rest of its ${length} bytes` };
    }
    const bytes = this.#block.bytes + this.#line.length;
    const head = this.#block.text + headOf(this.#line.beginning);
    return bytes === 0 ? undefined : { bytes, head, missing: "the empty line that ends a header" };
  }

  end(): void {
    if (this.#body === undefined) {
      const line = this.#line.finish();
      const bytes = this.#block.bytes + line.length;
      this.#giveUp({ reason: "truncated", message: `the stream ended in a header: ${bytes} bytes were dropped` }, line);
      return;
    }
    const { length, bytes, fault } = this.#body;
    const message = `the stream ended after ${bytes.length} of the ${length} bytes of a body; they were dropped`;
    this.#body = undefined;
    this.#refuse(fault ?? { reason: "truncated", message }, bytes.finish());
  }

  #readLine(chunk: Uint8Array, at: number): number {
    const end = chunk.indexOf(newline, at);
    if (end < 0) {
      this.#line.append(chunk.subarray(at));
      return chunk.length;
    }
    this.#takeLine(this.#line.finish(chunk.subarray(at, end)));
    return end + 1;
  }

  #takeLine(line: ByteSpan): void {
    if (line.length === 0 || (line.length === 1 && line.head[0] === carriageReturn)) {
      this.#endHeader();
      return;
    }
    if (this.#block.bytes > 0 && this.#block.bytes + line.length >= headerBytes) {
      this.#giveUp(badHeader(`a header of more than ${headerBytes} bytes`));
    }
    const text = line.length < headerBytes ? headOf(line.head) : "";
    const field = readField(text);
    const found = field === undefined || this.#phase === "lost" ? lengthFieldAtEnd(tailOf(line)) : "";
    if (field !== undefined && (found === "" || found === text)) {
      this.#addField(field, text, line.length);
      return;
    }
    const stray = line.length - found.length;
    this.#giveUp(badHeader(`${this.#block.bytes + stray} bytes that are no header`), line, stray);
    const rest = readField(found);
    if (rest !== undefined) this.#addField(rest, found, found.length);
  }

  #addField(field: Field, text: string, length: number): void {
    this.#block.fields.push(field);
    this.#block.text += `${text}\n`;
    this.#block.bytes += length + 1;
  }

  #endHeader(): void {
    if (this.#block.bytes === 0) return;
    const { length, problem } = readHeader(this.#block.fields);
    if (length === undefined) {
      this.#giveUp(badHeader(problem));
      return;
    }
    this.#block = { fields: [], text: "", bytes: 0 };
    this.#phase = "header";
    const fault = this.#faultOf(length, problem);
    const body: Body = { length, fault, bytes: fault === undefined ? this.#content : new PartialFrame(headBytes) };
    if (length > 0) this.#body = body;
    else this.#closeBody(body, body.bytes.finish());
  }

  #faultOf(length: number, problem: string | undefined): Fault | undefined {
    if (problem !== undefined) return skipped("bad-header", problem, length);
    if (length <= this.#max) return undefined;
    return skipped("too-long", `Content-Length ${length}, more than the ${this.#max} allowed`, length);
  }

  #readBody(body: Body, chunk: Uint8Array, at: number): number {
    const end = at + body.length - body.bytes.length;
    if (end > chunk.length) {
      body.bytes.append(chunk.subarray(at));
      return chunk.length;
    }
    this.#body = undefined;
    this.#closeBody(body, body.bytes.finish(chunk.subarray(at, end)));
    return end;
  }

  #closeBody({ length, fault }: Body, bytes: ByteSpan): void {
    if (bytes.hasNoRoom === true) {
      const message = `there is no room for a body of ${length} bytes; it was skipped`;
      this.#refuse(fault ?? { reason: "no-room", message }, bytes);
      return;
    }
    const text = fault === undefined ? decodeUtf8(bytes.head) : undefined;
    if (text !== undefined) {
      this.#sink.frame(text);
      return;
    }
    const message = `received a body of ${length} bytes that is not UTF-8; it was skipped`;
    this.#refuse(fault ?? { reason: "not-utf8", message }, bytes);
  }

  /**
   * Reports the header so far and the first `length` bytes of `line` as a fault, unless they are only white space
   * between frames.
   */
  #giveUp(fault: Fault, line: ByteSpan = noLine, length: number = line.length): void {
    const block = this.#block;
    const part = line.head.subarray(0, length);
    if (block.bytes === 0 && part.length === length && isBlank(part)) return;
    this.#block = { fields: [], text: "", bytes: 0 };
    this.#phase = "lost";
    const head = block.text + headOf(part.subarray(0, headBytes - block.bytes));
    this.#sink.refuse({ ...fault, head, bytes: block.bytes + length });
  }

  #refuse(fault: Fault, body: ByteSpan): void {
    this.#sink.refuse({ ...fault, head: headOf(body.head), bytes: body.length });
  }
}

function skipped(reason: FrameRefusalReason, what: string, length: number): Fault {
  return { reason, message: `received ${what}; its body of ${length} bytes was skipped` };
}

function badHeader(what: string): Fault {
  return { reason: "bad-header", message: `received ${what}; the next header is looked for` };
}

/** The maximum size of a header block. It is buffered until its end arrives, and no useful header is this long. */
const headerBytes: number = 4 * 1024;

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
function readField(line: string): Field | undefined {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(colon, 0));
  return token.test(name) ? { name: name.toLowerCase(), value: line.slice(colon + 1) } : undefined;
}

/**
 * Reads the fields of a header block strictly: a length consists of decimal digits, repeated lengths must agree, and
 * the charset must be UTF-8 (older language servers write `utf8`). Other fields are ignored.
 */
function readHeader(fields: readonly Field[]): Header {
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
function lengthFieldAtEnd(tail: Uint8Array): string {
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
