import type { Tapped } from "@parlance/mcp/jsonrpc";
import { methods } from "@parlance/mcp/protocol";
import { Conversation, type FrameEntry, type Verdict } from "@parlance/wire";
import { type FrameRow, verdictText } from "../output/conversation-rows.js";

/** The numbers of a conversation. */
export interface Tally {
  readonly frames: number;
  readonly bytes: number;
  /** The number of requests of the client. */
  readonly calls: number;
  /** The number of errors of the server, and of results with `isError`. */
  readonly errors: number;
  /** The number of violations by the server. */
  readonly violations: number;
}

/** The frames up to the first operation. */
export interface Opening {
  readonly frames: readonly FrameRow[];
  readonly count: number;
  readonly bytes: number;
  /** The frame of the first operation, once it is sent. */
  readonly operation: FrameRow | undefined;
}

/** The number of last frames kept, to show them after a failure. */
const mostRecent = 8;
const mostOpening = 16;

/** The number of first violations whose texts are kept. */
const mostBroken = 3;

/** Requests that open a conversation or check the connection; every other request is an operation. */
const openers: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover, methods.ping]);

/**
 * Reads the frames of a conversation of this command, with the same reader as recordings: the same rows, pairs and verdicts. Also
 * counts them.
 */
export class LiveConversation {
  readonly #conversation = new Conversation();
  readonly #stdio: boolean;
  #session = 1;
  #tally: Tally = { frames: 0, bytes: 0, calls: 0, errors: 0, violations: 0 };
  #opening: Opening = { frames: [], count: 0, bytes: 0, operation: undefined };
  #recent: readonly FrameRow[] = [];
  readonly #broken: string[] = [];

  /** @param stdio whether frames are lines of stdin and stdout, which have rules of their own */
  constructor({ stdio }: { readonly stdio: boolean }) {
    this.#stdio = stdio;
  }

  get tally(): Tally {
    return this.#tally;
  }

  get opening(): Opening {
    return this.#opening;
  }

  /** The first violations by the server, in words; `tally` has the number of all. */
  get broken(): readonly string[] {
    return this.#broken;
  }

  /** The last frames, oldest first. */
  get recent(): readonly FrameRow[] {
    return this.#recent;
  }

  /** Called when a new channel opens: it has no responses to requests of the previous channel. */
  changeChannel(): void {
    if (this.#tally.frames > 0) this.#session += 1;
  }

  /** The row of a frame at a time in milliseconds; undefined for the end of the channel. */
  read(tapped: Tapped, at: number): FrameRow | undefined {
    if (tapped.kind === "ended") return undefined;
    const entry = this.#entryOf(tapped, at);
    const row = this.#conversation.push(entry);
    if (row?.from === undefined) return undefined;
    // Rows are not kept, because the server may send any number of frames.
    this.#conversation.rows.length = 0;
    const isRefused = tapped.kind === "refused" && entry.kept !== undefined;
    const frame = { ...row, entry, from: row.from, ...(isRefused && { refused: tapped.refusal.message }) };
    this.#count(frame);
    return frame;
  }

  #entryOf(tapped: Exclude<Tapped, { kind: "ended" }>, t: number): FrameEntry {
    const refusal = tapped.kind === "refused" ? tapped.refusal : undefined;
    const raw = tapped.kind === "refused" ? tapped.refusal.head : tapped.frame;
    const isSent = tapped.kind === "sent";
    // An incomplete last line is judged. Of any other refused frame, only the beginning is known.
    const isRest = this.#stdio && refusal?.reason === "truncated" && refusal.bytes === Buffer.byteLength(raw);
    return {
      k: "f",
      n: this.#tally.frames + 1,
      s: String(this.#session),
      t,
      d: isSent ? "c2s" : "s2c",
      ch: this.#stdio ? (isSent ? "stdin" : "stdout") : "socket",
      len: refusal?.bytes ?? Buffer.byteLength(raw),
      nl: this.#stdio && !isRest ? "\n" : "",
      ...(refusal !== undefined && !isRest && { kept: Buffer.byteLength(raw) }),
      raw,
    };
  }

  #count(frame: FrameRow): void {
    const { frames, bytes, calls, errors, violations } = this.#tally;
    const { entry, from, messages } = frame;
    const isServer = from === "server";
    const failed = messages.filter(
      ({ kind, concerns, id, result }) =>
        (kind === "err" && (concerns !== undefined || id === undefined || id === "null")) || result?.isError === true,
    );
    const broken = brokenByServer(frame).map((verdict) => `${verdict.rule.id} ${verdictText(verdict)}`);
    if (frame.refused !== undefined) broken.unshift(frame.refused);
    this.#broken.push(...broken.slice(0, mostBroken - this.#broken.length));
    this.#tally = {
      frames: frames + 1,
      bytes: bytes + entry.len,
      calls: calls + (isServer ? 0 : messages.filter(({ kind }) => kind === "req").length),
      errors: errors + (isServer ? failed.length : 0),
      violations: violations + broken.length,
    };
    this.#recent = [...this.#recent, frame].slice(-mostRecent);
    this.#countOpening(frame);
  }

  #countOpening(frame: FrameRow): void {
    const { frames, count, bytes, operation } = this.#opening;
    if (operation !== undefined) return;
    const isOperation =
      frame.from === "client" && frame.messages.some(({ kind, method }) => kind === "req" && !openers.has(method));
    this.#opening = isOperation
      ? { ...this.#opening, operation: frame }
      : {
          frames: [...frames, frame].slice(0, mostOpening),
          count: count + 1,
          bytes: bytes + frame.entry.len,
          operation,
        };
  }
}

/** The rules that the server broke with a frame. */
export function brokenByServer({ verdicts }: FrameRow): readonly Verdict[] {
  return verdicts.filter(({ level, party }) => level === "must" && party === "server");
}
