import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { BodyCutter, type Entry, type FrameEntry } from "@parlance/wire";
import type { Recorder } from "../../shared/recorder/recorder.js";
import { type HeaderList, headerValue } from "./headers.js";

type BodyFrame = ReturnType<BodyCutter["push"]>[number];
type RecorderRuleEntry = Extract<Entry, { k: "r" }>;
type Direction = FrameEntry["d"];
type HttpEntry = Extract<Entry, { k: "h" }>;

/** The maximum milliseconds that the entries of an exchange wait for its session id. */
const longestWait = 1_000;

const sessionId = "mcp-session-id";
const initialize = /"initialize"/;

/** The number of bytes of a body that are searched for `initialize`. */
const mostLookedAt = 64 * 1024;

const decoder = new TextDecoder();

/** An HTTP head whose session is unknown so far. */
type Head = Pick<HttpEntry, "ph" | "method" | "url" | "status" | "headers" | "why" | "by">;

/** The side that aborted an exchange. */
export type AbortedBy = NonNullable<HttpEntry["by"]>;

/** Covers secrets before they are recorded, without changing their length in bytes. */
export interface Cover {
  head(head: Head): Head;
  /** A whole body, or one event. */
  body(bytes: Uint8Array): Uint8Array;
}

/** The recorded parts of an exchange. */
export interface ExchangeStart {
  /** The number of the exchange. */
  readonly x: number;
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  /**
   * How bodies are recorded. Bodies of other paths than the endpoint are not messages and may hold passwords and tokens; those of
   * a sign-in are recorded without secrets.
   */
  readonly bodies: "messages" | "sign-in" | "none";
  /** Covers secrets. Default: everything is recorded unchanged. */
  readonly cover: Cover | undefined;
  /** Called when everything is recorded. */
  readonly onWritten: () => void;
  /** Returns a mark for the next frame, by which rules refer to it. Default: no marks. */
  readonly mark?: (() => number | undefined) | undefined;
  /** The URL of the server. */
  readonly target: URL;
}

/**
 * Records one exchange as both sides send it. If only the response names the session of the request, the earlier entries wait for
 * it; the traffic does not.
 */
export class ExchangeRecord {
  readonly #start: ExchangeStart;
  readonly #recorder: Recorder;
  readonly #sessions: SessionNames;
  readonly #request: BodyRecord;
  #response: BodyRecord | undefined;
  #session: string | undefined;
  /** Whether the body looks like an `initialize` request. */
  #opensSession = false;
  #held: ((session: string) => void)[] = [];
  /** The mark of the last frame of each direction. */
  readonly #marks = new Map<Direction, number>();

  constructor(start: ExchangeStart, recorder: Recorder, sessions: SessionNames) {
    this.#start = start;
    this.#recorder = recorder;
    this.#sessions = sessions;
    const { method, url, headers, bodies } = start;
    const named = headerValue(headers, sessionId) ?? (sessions.has(url) ? url : undefined);
    if (named !== undefined) this.#session = sessions.of(named);
    else if (bodies !== "messages") this.#session = sessions.none;
    else if (method === "GET") setTimeout(() => this.#belongsTo(sessions.none), longestWait).unref();
    this.#request = this.#bodyRecord(headers, (frame) => this.#requestFrame(frame));
    this.#head({ ph: "req", method, url, headers });
  }

  /** Records a chunk of the request body. */
  requestBytes(bytes: Uint8Array): void {
    if (this.#start.bodies !== "none") this.#request.push(bytes, this.#recorder.now());
  }

  /** Called at the end of the request. */
  requestEnd(): void {
    void this.#request.end("ended"); // Never rejects.
    if (this.#start.method !== "GET" && !this.#opensSession) this.#belongsTo(this.#sessions.none);
  }

  /** Records the head of the response. */
  responseHead(status: number, headers: HeaderList): void {
    const id = headerValue(headers, sessionId);
    if (id !== undefined) this.#belongsTo(this.#sessions.of(id));
    else if (this.#start.method !== "GET") this.#belongsTo(this.#sessions.none);
    this.#head({ ph: "res", status, headers });
    this.#response = this.#bodyRecord(headers, (frame) => this.#responseFrame(frame));
  }

  /** Records a chunk of the response body. */
  responseBytes(bytes: Uint8Array): void {
    if (this.#start.bodies !== "none") this.#response?.push(bytes, this.#recorder.now());
  }

  /** Called when the response body is complete, before it is forwarded. */
  responseWhole(): void {
    void this.#response?.end("ended"); // Never rejects.
    this.#response = undefined;
  }

  /** The mark of the last frame of a direction; undefined without one. */
  markOf(d: Direction): number | undefined {
    return this.#marks.get(d);
  }

  /** Records that a rule was applied to a frame. */
  rule(entry: RecorderRuleEntry, of: number | undefined): void {
    this.#write(() => this.#recorder.add({ kind: "rule", entry, of }));
  }

  /** Records a message that neither side sent. */
  made(message: Pick<FrameEntry, "d" | "ch"> & { readonly bytes: Uint8Array; readonly of?: number | undefined }): void {
    const { bytes, of, ...place } = message;
    const { x, cover } = this.#start;
    const shown = cover?.body(bytes) ?? bytes;
    const frame = { ...place, t: this.#recorder.now(), len: bytes.length, bytes: shown, req: x } as const;
    const origin = of === undefined ? ({ by: "inject" } as const) : ({ by: "mutate", of } as const);
    this.#write((s) => this.#recorder.frame({ ...frame, ...origin, s }));
  }

  /** Called at the end of the response. */
  end(): void {
    this.#finish({ ph: "end" }, "ended");
  }

  /** Called when the exchange was aborted. */
  abort(why: string, by: AbortedBy): void {
    this.#finish({ ph: "abort", why, by }, "aborted");
  }

  #finish(head: Head, how: "ended" | "aborted"): void {
    const finish = (): void => {
      this.#belongsTo(this.#sessions.none);
      this.#head(head);
      this.#start.onWritten();
    };
    const written = this.#response?.end(how);
    if (written === undefined) finish();
    else void written.then(finish);
  }

  #requestFrame(frame: BodyFrame): void {
    this.#opensSession = initialize.test(decoder.decode(frame.bytes.subarray(0, mostLookedAt)));
    this.#frame("c2s", frame);
  }

  #responseFrame(frame: BodyFrame): void {
    // HTTP+SSE: the stream names the URL for POSTs, which identifies the session.
    const isUnnamed = this.#session === undefined || this.#session === this.#sessions.none;
    if (isUnnamed && frame.ev?.event === "endpoint") {
      const { pathname, search } = new URL(decoder.decode(frame.bytes), this.#start.target);
      const session = this.#sessions.of(`${pathname}${search}`);
      this.#belongsTo(session);
      // If the wait has timed out, the head of the stream has no session, and all later entries belong to this one.
      this.#session = session;
    } else this.#belongsTo(this.#sessions.none);
    this.#frame("s2c", frame);
  }

  #bodyRecord(headers: HeaderList, write: (frame: BodyFrame) => void): BodyRecord {
    // `fetch` has decompressed the bodies of a sign-in already.
    const isDecoded = this.#start.bodies === "sign-in";
    return new BodyRecord(
      isDecoded ? headers.filter(([name]) => name.toLowerCase() !== "content-encoding") : headers,
      write,
    );
  }

  #head(head: Head): void {
    const { x, cover } = this.#start;
    const t = this.#recorder.now();
    const seen = cover?.head(head) ?? head;
    this.#write((s) => this.#recorder.add({ kind: "entry", entry: { k: "h", t, s, x, ...seen } }));
  }

  #frame(d: Direction, frame: BodyFrame): void {
    const { x, cover } = this.#start;
    const bytes = cover?.body(frame.bytes) ?? frame.bytes;
    const mark = this.#start.mark?.();
    if (mark !== undefined) this.#marks.set(d, mark);
    this.#write((s) => this.#recorder.frame({ ...frame, bytes, s, d, req: x, mark }));
  }

  #write(write: (session: string) => void): void {
    if (this.#session === undefined) this.#held.push(write);
    else write(this.#session);
  }

  /** Assigns the session, if the exchange has none yet. */
  #belongsTo(session: string): void {
    if (this.#session !== undefined) return;
    this.#session = session;
    for (const write of this.#held) write(session);
    this.#held = [];
  }
}

/** The connections of a recording: exchanges that belong to one MCP session have one name. */
export class SessionNames {
  readonly #names = new Map<string, string>();

  /** The session of exchanges without a session id. */
  readonly none: string = "0";

  /** The session for an id of the server: `Mcp-Session-Id`, or the endpoint URL of an event stream. */
  of(id: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const name = String(this.#names.size + 1);
    this.#names.set(id, name);
    return name;
  }

  /** Whether the server has used this id for a session. */
  has(id: string): boolean {
    return this.#names.has(id);
  }

  /** Registers another id of the same session. */
  alias(id: string, name: string): void {
    this.#names.set(id, name);
  }
}

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/** Records a body while it is forwarded. A compressed body is decompressed for the recording, and forwarded unchanged. */
export class BodyRecord {
  readonly #write: (frame: BodyFrame) => void;
  readonly #cutter: BodyCutter;
  readonly #decoder: Transform | undefined;
  readonly #decoded: Promise<void> | undefined;
  #t = 0;

  constructor(headers: HeaderList, write: (frame: BodyFrame) => void) {
    this.#write = write;
    this.#cutter = new BodyCutter(headerValue(headers, "content-type"));
    this.#decoder = decoders[headerValue(headers, "content-encoding")?.toLowerCase() ?? ""]?.();
    if (this.#decoder !== undefined) this.#decoded = this.#decode(this.#decoder);
  }

  /** Takes the next bytes. */
  push(bytes: Uint8Array, t: number): void {
    this.#t = t;
    if (this.#decoder === undefined) this.#take(bytes);
    else if (this.#decoder.writable) this.#decoder.write(bytes);
  }

  /** The body has ended. The promise, if any, resolves when everything is recorded. */
  end(how: "ended" | "aborted"): Promise<void> | undefined {
    this.#decoder?.end();
    if (this.#decoded !== undefined) return this.#decoded.then(() => this.#finish(how));
    this.#finish(how);
    return undefined;
  }

  #finish(how: "ended" | "aborted"): void {
    const last = this.#cutter.end(how);
    if (last !== undefined) this.#write(last);
  }

  #take(bytes: Uint8Array): void {
    for (const frame of this.#cutter.push(bytes, this.#t)) this.#write(frame);
  }

  #decode(decoder: Transform): Promise<void> {
    decoder.on("data", (bytes: Uint8Array) => this.#take(bytes));
    return new Promise((resolve) => {
      decoder.on("end", resolve);
      // Truncated, or not compressed as declared: the readable part is recorded.
      decoder.on("error", () => resolve());
    });
  }
}
