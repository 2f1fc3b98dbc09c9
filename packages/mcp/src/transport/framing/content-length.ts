import type { FrameDecoder, FrameRefusalReason, FrameSink, Framing } from "../../base/framing.js";
import { skipByteOrderMark } from "./byte-order-mark.js";
import { type Field, headerBytes, lengthFieldAtEnd, readField, readHeader } from "./header.js";
import { type ByteSpan, PartialFrame, tailOf } from "./partial-frame.js";
import { decodeUtf8, frameBound, headBytes, headOf, isBlank, utf8Length } from "./utf8.js";

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
