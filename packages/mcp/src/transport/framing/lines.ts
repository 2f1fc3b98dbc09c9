import type { FrameDecoder, FrameRefusalReason, FrameSink, Framing, UnfinishedFrame } from "../../base/framing.js";
import { type ByteSpan, PartialFrame, tailOf } from "./partial-frame.js";
import { decodeUtf8, frameBound, headBytes, headOf, isBlank, skipByteOrderMark } from "./utf8.js";

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const onlyWhiteSpace = /^[ \t\r]*$/;
const lineBreaks = /[\n\r]/g;

/**
 * One frame per line, as MCP uses on stdio. Lines end with `\n` or `\r\n`; blank lines are ignored; a byte order mark
 * at the start of the stream is skipped.
 * A line that is too long or not UTF-8 is reported when its end arrives, because only then are its length and the start
 * of the next line known. Bytes after the last `\n` are reported as a fault even if they parse: `12` may be the start
 * of `123`.
 */
export const lines: Framing = {
  name: "lines",
  encode(text: string): string {
    // Raw line breaks in JSON are white space between tokens, so a space can replace them.
    const line = text.includes("\n") || text.includes("\r") ? text.replace(lineBreaks, " ") : text;
    return `${line}\n`;
  },
  decoder(sink: FrameSink, maxBytes: number): FrameDecoder {
    return skipByteOrderMark(new LineDecoder(sink, frameBound(maxBytes)));
  },
};

class LineDecoder implements FrameDecoder {
  readonly #sink: FrameSink;
  readonly #max: number;
  readonly #line: PartialFrame;
  #hasBegun = false;

  constructor(sink: FrameSink, max: number) {
    this.#sink = sink;
    this.#max = max;
    // One more byte for the carriage return, which does not count towards the frame.
    this.#line = new PartialFrame(max + 1, headBytes, sink.budget);
  }

  push(chunk: Uint8Array): void {
    const last = chunk.lastIndexOf(newline);
    let start = 0;
    if (last >= 0 && this.#hasBegun) {
      this.#hasBegun = false;
      start = chunk.indexOf(newline) + 1;
      this.#deliver(this.#line.finish(chunk.subarray(0, start - 1)));
    }
    if (start < last) this.#deliverLines(chunk.subarray(start, last));
    if (last + 1 < chunk.length) {
      this.#hasBegun = true;
      this.#line.append(chunk.subarray(last + 1));
    }
  }

  get unfinished(): UnfinishedFrame | undefined {
    const { length: bytes, beginning } = this.#line;
    return isBlank(beginning) ? undefined : { bytes, head: headOf(beginning), missing: "the newline that ends it" };
  }

  end(): void {
    const line = this.#line.finish();
    if (this.#refusedForLength(line) || isBlank(line.head)) return;
    this.#refuse(
      "truncated",
      line,
      `the stream ended in a line: ${lengthOf(line)} bytes without a newline were dropped`,
    );
  }

  /**
   * Delivers complete lines, without the last newline. All lines are decoded in one call, because a call per line would
   * cost more than everything else. Each frame is therefore a slice of the chunk's text: storing a frame keeps the
   * whole chunk in memory.
   */
  #deliverLines(block: Uint8Array): void {
    const text = block.length <= this.#max ? decodeUtf8(block) : undefined;
    if (text === undefined) {
      this.#deliverEach(block);
      return;
    }
    for (let from = 0, to = 0; to < text.length; from = to + 1) {
      to = text.indexOf("\n", from);
      if (to < 0) to = text.length;
      const end = text.charCodeAt(to - 1) === carriageReturn && to > from ? to - 1 : to;
      // Nearly every frame starts with a bracket, which settles it without the expression.
      const line = text.slice(from, end);
      if (line.charCodeAt(0) > space || !onlyWhiteSpace.test(line)) this.#sink.frame(line);
    }
  }

  /** The slower variant, for blocks with a line that is too long or not UTF-8. */
  #deliverEach(block: Uint8Array): void {
    let from = 0;
    for (let to = block.indexOf(newline); to >= 0; to = block.indexOf(newline, from)) {
      this.#deliver(this.#line.finish(block.subarray(from, to)));
      from = to + 1;
    }
    this.#deliver(this.#line.finish(block.subarray(from)));
  }

  #deliver(line: ByteSpan): void {
    if (this.#refusedForLength(line)) return;
    const text = decodeUtf8(line.head);
    if (text !== undefined) this.#frame(text);
    else this.#refuse("not-utf8", line, `received a line of ${lengthOf(line)} bytes that is not UTF-8; it was skipped`);
  }

  #refusedForLength(line: ByteSpan): boolean {
    const length = lengthOf(line);
    if (length <= this.#max) {
      if (line.hasNoRoom !== true) return false;
      this.#refuse("no-room", line, `there is no room for a line of ${length} bytes; it was skipped`);
      return true;
    }
    this.#refuse(
      "too-long",
      line,
      `received a line of ${length} bytes, more than the ${this.#max} allowed; it was skipped`,
    );
    return true;
  }

  #frame(line: string): void {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    // Nearly every frame starts with a bracket, which saves the regular expression.
    if (text.charCodeAt(0) > space || !onlyWhiteSpace.test(text)) this.#sink.frame(text);
  }

  #refuse(reason: FrameRefusalReason, line: ByteSpan, message: string): void {
    const bytes = lengthOf(line);
    const raw = line.head.slice(0, bytes);
    const head = headOf(raw);
    this.#sink.refuse({ reason, message, head, bytes, ...(reason === "not-utf8" && { raw }) });
  }
}

/** The length of a line without its line ending. */
function lengthOf(line: ByteSpan): number {
  return tailOf(line).at(-1) === carriageReturn ? line.length - 1 : line.length;
}
