import type { Readable, Writable } from "node:stream";
import { EventCutter } from "@parlance/wire";
import { mostWaiting, type Rewriter } from "../../shared/forward.js";
import type { Fate } from "../../shared/intercept/interception.js";
import { drained } from "../../shared/output/terminal.js";

type CutEvent = ReturnType<EventCutter["push"]>[number];

/** The functions with which an event stream is recorded and held. */
export interface EventHandling {
  /** Whether a breakpoint is set, or an event is held. */
  isActive(): boolean;
  /** Records bytes unchanged. */
  chunk(bytes: Uint8Array): void;
  /** The decision on an event. */
  fateOf(event: CutEvent): Promise<Fate>;
  /** The mark of the last recorded event. */
  markOf(): number | undefined;
  /** Records a changed event that replaces a marked one. */
  changed(text: string, of: number | undefined): void;
  readonly rewriter: Rewriter | undefined;
}

/** The longest event that is held, in bytes; a longer one is forwarded as it arrives. */
const longestEvent = 4 * 1024 * 1024;

const passes: Promise<Fate> = Promise.resolve({ did: "send" });

const [newline, carriageReturn] = [0x0a, 0x0d];

/**
 * Forwards an event stream: as it comes while there is no breakpoint, and event by event while there is one. Resolves when the source
 * has ended and everything is written, also what was held, or when the reader has gone away. Rejects if the source breaks off.
 */
export async function forwardEvents(from: Readable, to: Writable, handling: EventHandling): Promise<void> {
  const held = new Set<Promise<void>>();
  const splitter = new EventSplitter();
  let isWhole = true;
  const write = (bytes: Uint8Array): void => {
    to.write(handling.rewriter === undefined ? bytes : handling.rewriter.push(bytes));
  };
  for await (const bytes of from as AsyncIterable<Uint8Array>) {
    if (!handling.isActive() && splitter.length === 0) {
      write(bytes);
      handling.chunk(bytes);
      isWhole = endsWithEvent(bytes);
    } else {
      for (const event of splitter.push(bytes)) {
        const passed = isWhole ? passEvent(event, write, handling) : passTail(event, write, handling);
        isWhole = true;
        if (passed === undefined) continue; // Written already.
        held.add(passed);
        void passed.then(() => held.delete(passed));
      }
      if (splitter.length > longestEvent) {
        passTail(splitter.end(), write, handling);
        isWhole = false;
      }
    }
    if (to.writableLength > mostWaiting && !to.destroyed) await drained(to);
    if (to.destroyed) return;
  }
  await Promise.all(held);
  if (splitter.length > 0) passTail(splitter.end(), write, handling);
  if (handling.rewriter !== undefined) to.write(handling.rewriter.end());
}

/** The end of an event whose beginning was forwarded before there was a breakpoint. */
function passTail(bytes: Uint8Array, write: (bytes: Uint8Array) => void, { chunk }: EventHandling): undefined {
  write(bytes);
  chunk(bytes);
}

async function passEvent(
  bytes: Uint8Array,
  write: (bytes: Uint8Array) => void,
  { chunk, fateOf, changed, markOf }: EventHandling,
): Promise<void> {
  const [event] = new EventCutter().push(bytes, 0);
  chunk(bytes);
  const mark = markOf();
  // Comments and events without data are forwarded in order, too.
  const fate = await (event === undefined ? passes : fateOf(event));
  if (fate.did === "send") write(bytes);
  if (fate.did !== "change") return;
  changed(fate.text, mark);
  write(withData(bytes, fate.text));
}

/** An event with other data, and the same id and name. */
function withData(event: Uint8Array, text: string): Uint8Array {
  const lines = Buffer.from(event)
    .toString()
    .split(/\r\n|\r|\n/);
  const kept = lines.filter((line) => line !== "" && !/^data(?::|$)/.test(line));
  const data = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}`);
  return Buffer.from([...kept, ...data, "", ""].join("\n"));
}

function endsWithEvent(bytes: Uint8Array): boolean {
  return /(?:\n\n|\r\r|\r\n\r\n)$/.test(Buffer.from(bytes.subarray(-4)).toString("latin1"));
}

/** Splits an event stream after each blank line. It looks at each byte once, and copies it once. */
class EventSplitter {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;
  #isLineStart = false;
  /** Whether the last byte was a carriage return: a line feed after it belongs to the same line break. */
  #isAfterCarriageReturn = false;

  /** The bytes of the incomplete event. */
  get length(): number {
    return this.#length;
  }

  /** Takes the next bytes, which the caller must not write to again, and returns the events that they complete. */
  push(bytes: Uint8Array): readonly Uint8Array[] {
    const events: Uint8Array[] = [];
    let from = 0;
    for (let end = this.#endOfEvent(bytes, from); end !== undefined; end = this.#endOfEvent(bytes, from)) {
      this.#keep(bytes.subarray(from, end));
      events.push(this.end());
      from = end;
    }
    this.#keep(bytes.subarray(from));
    return events;
  }

  /** Returns the bytes of the incomplete event, and forgets them. */
  end(): Uint8Array {
    const [only] = this.#pieces;
    const bytes = only !== undefined && this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces);
    this.#pieces.length = 0;
    this.#length = 0;
    return bytes;
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** The offset after the next blank line; undefined without one. */
  #endOfEvent(bytes: Uint8Array, from: number): number | undefined {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at];
      const isSecondHalf = this.#isAfterCarriageReturn && byte === newline;
      this.#isAfterCarriageReturn = byte === carriageReturn;
      if (isSecondHalf) continue;
      const isBreak = byte === newline || byte === carriageReturn;
      const isBlank = isBreak && this.#isLineStart;
      this.#isLineStart = isBreak;
      if (!isBlank) continue;
      this.#isLineStart = false;
      const isPair = byte === carriageReturn && bytes[at + 1] === newline;
      if (isPair) this.#isAfterCarriageReturn = false;
      return at + (isPair ? 2 : 1);
    }
    return undefined;
  }
}
