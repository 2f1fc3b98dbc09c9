// The lines of a recording. They hold only observations: what crossed, when, and the lifecycle of both sides. A reader derives
// everything else each time, so that newer rules can judge an old recording. Only a recording that was made from another one, and
// lacks some of its bytes or frames, carries the verdicts on the original.

/** The direction: to the server, or to the client. */
export type Direction = "c2s" | "s2c";

/** The transport of a frame. `socket` stands for every transport that keeps messages apart by itself. */
export type FrameChannel = "stdin" | "stdout" | "http" | "sse" | "socket";

/** Bytes as a line of JSON can hold them: the text where they are UTF-8, base64 where they are not. */
export type RecordedBytes =
  | { readonly raw: string; readonly b64?: undefined }
  | { readonly b64: string; readonly raw?: undefined };

/** A verdict on the original, in a recording that was made from another one. The rule is named by its id. */
export interface RecordedVerdict {
  readonly rule: string;
  readonly party: "client" | "server" | "host" | "injected";
  readonly pointer?: string;
  readonly range?: readonly [start: number, end: number];
  readonly header?: string;
  readonly says: string;
  readonly version: string;
  /** The clause that the verdict rests on, if it is not the sentence of its rule. */
  readonly by?: RecordedClause;
}

/** A sentence of the specification that a carried verdict rests on. */
export interface RecordedClause {
  readonly level: "must" | "should" | "may";
  readonly sentence?: string;
  readonly doubt?: string;
  readonly spec: string;
}

/** The first line: what was recorded, and by which program. */
export interface HeaderEntry {
  readonly k: "hdr";
  readonly fmt: "parlance/1";
  readonly id: string;
  /** When the recording began (RFC 3339). All other times are milliseconds since then, on a clock that never goes back. */
  readonly t0: string;
  readonly clock: "monotonic";
  readonly app: { readonly name: string; readonly ver: string };
  readonly mode: "launch" | "tap" | "proxy" | "import";
  readonly server?: {
    readonly cmd?: string;
    readonly args?: readonly string[];
    readonly cwd?: string;
    readonly envNames?: readonly string[];
    readonly url?: string;
  };
  readonly host?: { readonly name?: string; readonly pid?: number };
  readonly os?: string;
  /** What was redacted, in words. */
  readonly redact?: readonly string[];
  /** The id of the recording that this one was made from. */
  readonly parent?: string;
}

/** One frame: a line of stdio, the body of an HTTP request, one event of a stream. */
export type FrameEntry = RecordedBytes & {
  readonly k: "f";
  /** The number of the observation (frame, stderr, HTTP head, lifecycle event), in the order of arrival, from 1. */
  readonly n: number;
  /** The connection that it crossed. */
  readonly s: string;
  /** The arrival of the first byte, and of the last byte if that was later. */
  readonly t: number;
  readonly t1?: number;
  readonly d: Direction;
  readonly ch: FrameChannel;
  /** Bytes of the frame, without what ends it. */
  readonly len: number;
  /** How the line ended. Empty for a frame that no line break ends, and for the rest of a stream that broke off. */
  readonly nl: "\n" | "\r\n" | "";
  /** Bytes that were kept of a frame that is too long: its beginning. */
  readonly kept?: number;
  /** Offset and time of every chunk after the first. */
  readonly w?: readonly (readonly [offset: number, t: number])[];
  /** The HTTP exchange that carried it. */
  readonly req?: number;
  /** The other fields of the event, on an event stream. */
  readonly ev?: { readonly id?: string; readonly event?: string; readonly retry?: number };
  /** The frame is incomplete, and no reader takes it: the response ended, or the exchange was aborted. */
  readonly cut?: "ended" | "aborted";
  /** Neither side sent it in this form: a person or an injected fault made it. */
  readonly by?: "inject" | "mutate";
  /** The frame that it was made from. */
  readonly of?: number;
  /** The verdicts on the original, if bytes were redacted. Such a frame is not judged again. */
  readonly v?: readonly RecordedVerdict[];
};

/** What a server wrote to stderr. */
export type StderrEntry = RecordedBytes & {
  readonly k: "e";
  readonly n: number;
  readonly s: string;
  readonly t: number;
};

/** A head or an end of an HTTP exchange. */
export interface HttpEntry {
  readonly k: "h";
  readonly n: number;
  readonly t: number;
  readonly s: string;
  /** The number of the exchange. */
  readonly x: number;
  readonly ph: "req" | "res" | "end" | "abort";
  readonly method?: string;
  readonly url?: string;
  readonly status?: number;
  /** In the order and the case in which they came. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Why it was aborted. */
  readonly why?: string;
  /** The side that aborted it, or the recorder. */
  readonly by?: "client" | "server" | "recorder";
  /** The verdicts on the original. An exchange whose request has them is not judged again. */
  readonly v?: readonly RecordedVerdict[];
}

/** A lifecycle event of a side or of its connection. */
export interface LifeEntry {
  readonly k: "l";
  readonly n: number;
  readonly t: number;
  readonly s: string;
  /** `partial`: a line is unfinished, and no more bytes arrive. */
  readonly ev:
    | "spawn"
    | "exit"
    | "signal"
    | "stdin-end"
    | "open"
    | "close"
    | "partial"
    | "hold"
    | "release"
    | "ui-attach";
  /** Which way, of `partial`, `close` and `stdin-end`. */
  readonly d?: Direction;
  /** Bytes of `partial`. */
  readonly len?: number;
  readonly code?: number | null;
  readonly sig?: string | null;
  readonly pid?: number;
  /** Why the server could not be started. */
  readonly why?: string;
}

/** A rule that the recorder itself followed: a breakpoint, a fault, a redaction. */
export interface RecorderRuleEntry {
  readonly k: "r";
  readonly t: number;
  readonly break?: string;
  readonly fault?: string;
  readonly redact?: string;
  readonly seed?: number;
}

/** The annotation of a frame by a person. */
export interface AnnotationEntry {
  readonly k: "a";
  readonly n: number;
  readonly text: string;
  readonly colour?: string;
  readonly by?: string;
}

/** The recorder could not keep up or not write; entries are missing. */
export interface GapEntry {
  readonly k: "gap";
  readonly t: number;
  /** The interval in which entries are missing. */
  readonly from: number;
  readonly to: number;
  /** Frames and lines that are missing. */
  readonly lost: number;
  readonly why: string;
}

/** The last line of a complete recording. */
export interface EndEntry {
  readonly k: "end";
  readonly t: number;
  readonly frames: number;
  readonly bytes: number;
  /** The checksum of all lines before this one, in hexadecimal. */
  readonly sha256: string;
}

/** One line of a recording. */
export type Entry =
  | HeaderEntry
  | FrameEntry
  | StderrEntry
  | HttpEntry
  | LifeEntry
  | RecorderRuleEntry
  | AnnotationEntry
  | GapEntry
  | EndEntry;
