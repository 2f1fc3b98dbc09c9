// The lines of a recording. They hold only observations: bytes with their times, and the lifecycle of both sides. A reader
// derives everything else, so that newer rules can judge an old recording. A recording that was made from another one without
// some of its bytes or frames also carries the verdicts on the original.

/** The direction: to the server, or to the client. */
export type Direction = "c2s" | "s2c";

/** The transport of a frame. `socket` is any transport with message boundaries of its own. */
export type FrameChannel = "stdin" | "stdout" | "http" | "sse" | "socket";

/** Bytes as JSON can hold them: as text if they are UTF-8, otherwise in base64. */
export type RecordedBytes =
  | {
      /** The bytes as text, if they are UTF-8. */
      readonly raw: string;
      readonly b64?: undefined;
    }
  | {
      /** The bytes in base64, if they are not UTF-8. */
      readonly b64: string;
      readonly raw?: undefined;
    };

/** A verdict on the original, in a recording that was made from another one. The rule is named by its id. */
export interface RecordedVerdict {
  /** The id of the broken rule, such as `R-5`. */
  readonly rule: string;
  /** The side that broke it. */
  readonly party: "client" | "server" | "host" | "injected";
  /** A JSON pointer to the place in the frame. */
  readonly pointer?: string;
  /** The place in the frame, as offsets of bytes. */
  readonly range?: readonly [start: number, end: number];
  /** The HTTP header that breaks it. */
  readonly header?: string;
  /** The finding, in one sentence. */
  readonly says: string;
  /** The revision that it was judged by. */
  readonly version: string;
  /** The clause that the verdict rests on, if it is not the sentence of its rule. */
  readonly by?: RecordedClause;
}

/** A sentence of the specification that a carried verdict rests on. */
export interface RecordedClause {
  /** How strong the requirement is. */
  readonly level: "must" | "should" | "may";
  /** The sentence of the specification. */
  readonly sentence?: string;
  /** Why it is only a note, although the sentence states a stronger requirement. */
  readonly doubt?: string;
  /** The address of the sentence. */
  readonly spec: string;
}

/** The first line: the recorded server, and the program that recorded it. */
export interface HeaderEntry {
  readonly k: "hdr";
  readonly fmt: "parlance/1";
  /** The id of the recording. */
  readonly id: string;
  /** When the recording began (RFC 3339). All other times are milliseconds since then, on a clock that never goes back. */
  readonly t0: string;
  readonly clock: "monotonic";
  /** The program that made the recording. */
  readonly app: {
    /** The name of the program. */
    readonly name: string;
    /** The version of the program. */
    readonly ver: string;
  };
  /** How it was recorded: as the client, between host and server, as an HTTP proxy, or converted. */
  readonly mode: "launch" | "tap" | "proxy" | "import";
  /** The recorded server. */
  readonly server?: {
    /** The program. */
    readonly cmd?: string;
    /** The arguments of the program, secrets redacted. */
    readonly args?: readonly string[];
    /** The working directory of the program. */
    readonly cwd?: string;
    /** The names of environment variables that were set; never their values. */
    readonly envNames?: readonly string[];
    /** The URL of the server. */
    readonly url?: string;
  };
  /** The host that started the recorder. */
  readonly host?: {
    /** The name of the host. */
    readonly name?: string;
    /** The process id of the host. */
    readonly pid?: number;
  };
  /** The operating system. */
  readonly os?: string;
  /** The kinds of redacted values, in words. */
  readonly redact?: readonly string[];
  /** The id of the recording that this one was made from. */
  readonly parent?: string;
}

/** One frame: a line of stdio, the body of an HTTP request, one event of a stream. */
export type FrameEntry = RecordedBytes & {
  readonly k: "f";
  /** The number of the observation (frame, stderr, HTTP head, lifecycle event), in the order of arrival, from 1. */
  readonly n: number;
  /** The connection that carried it. */
  readonly s: string;
  /** The arrival of the first byte, and of the last byte if that was later. */
  readonly t: number;
  /** The arrival of the last byte, if it was later than that of the first. */
  readonly t1?: number;
  /** The direction. */
  readonly d: Direction;
  /** The kind of stream that carried it. */
  readonly ch: FrameChannel;
  /** The length of the frame in bytes, without its line end. */
  readonly len: number;
  /** The line end. Empty for a frame that is not a line, and for an incomplete last line. */
  readonly nl: "\n" | "\r\n" | "";
  /** The number of bytes kept of a frame that is too long: its beginning. */
  readonly kept?: number;
  /** Offset and time of every chunk after the first. */
  readonly w?: readonly (readonly [offset: number, t: number])[];
  /** The HTTP exchange that carried it. */
  readonly req?: number;
  /** The other fields of the event, on an event stream. */
  readonly ev?: {
    /** The id of the event. */
    readonly id?: string;
    /** The name of the event. */
    readonly event?: string;
    /** Milliseconds until the client may reconnect. */
    readonly retry?: number;
  };
  /** Why the frame is incomplete: the response ended, or the exchange was aborted. Its receiver ignores it. */
  readonly cut?: "ended" | "aborted";
  /** Set if neither side sent it in this form: a person or an injected fault made it. */
  readonly by?: "inject" | "mutate";
  /** The frame that it was made from. */
  readonly of?: number;
  /** The verdicts on the original, if bytes were redacted. Such a frame is not judged again. */
  readonly v?: readonly RecordedVerdict[];
};

/** The place of an observation in the recording. */
interface Observation {
  /** The number of the observation. */
  readonly n: number;
  /** When it happened. */
  readonly t: number;
  /** The connection that it belongs to. */
  readonly s: string;
}

/** Output of a server on stderr. */
export type StderrEntry = RecordedBytes & Observation & { readonly k: "e" };

/** A head or an end of an HTTP exchange. */
export interface HttpEntry extends Observation {
  readonly k: "h";
  /** The number of the exchange. */
  readonly x: number;
  /** The head of the request or response, or how the exchange ended. */
  readonly ph: "req" | "res" | "end" | "abort";
  /** The HTTP method, of a request. */
  readonly method?: string;
  /** The URL, of a request. */
  readonly url?: string;
  /** The HTTP status, of a response. */
  readonly status?: number;
  /** The headers, in their order and spelling on the wire. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Why it was aborted. */
  readonly why?: string;
  /** The side that aborted it, or the recorder. */
  readonly by?: "client" | "server" | "recorder";
  /** The verdicts on the original. An exchange whose request has them is not judged again. */
  readonly v?: readonly RecordedVerdict[];
}

/** A lifecycle event of a side or of its connection. */
export interface LifeEntry extends Observation {
  readonly k: "l";
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
  /** The direction, of `partial`, `close` and `stdin-end`. */
  readonly d?: Direction;
  /** The number of bytes, of `partial`. */
  readonly len?: number;
  /** The exit code, of `exit`; null after a signal. */
  readonly code?: number | null;
  /** The signal, of `exit` and `signal`. */
  readonly sig?: string | null;
  /** The process id, of `spawn`. */
  readonly pid?: number;
  /** Why the server could not be started. */
  readonly why?: string;
}

/** A rule that the recorder itself followed: a breakpoint, a fault, a redaction. */
export interface RecorderRuleEntry {
  readonly k: "r";
  /** When the rule was set, or applied. */
  readonly t: number;
  /** The number of the frame that the rule was applied to; without it, the rule was set. */
  readonly of?: number;
  /** The action on the frame at a breakpoint. A changed frame follows with `by: "mutate"`, an answer with `by: "inject"`. */
  readonly did?: "hold" | "send" | "change" | "drop" | "answer";
  /** Why a held frame was released, if no person did it. */
  readonly why?: "time" | "page" | "end" | "rule";
  /** The filter of a breakpoint. */
  readonly break?: string;
  /** The injected fault. */
  readonly fault?: string;
  /** The rule of redaction. */
  readonly redact?: string;
  /** The seed of the random choices of faults. */
  readonly seed?: number;
}

/** The annotation of a frame by a person. */
export interface AnnotationEntry {
  readonly k: "a";
  /** The number of the annotated observation. */
  readonly n: number;
  /** The note. */
  readonly text: string;
  /** The colour of the mark. */
  readonly colour?: string;
  /** The author. */
  readonly by?: string;
}

/** The recorder could not keep up or not write; entries are missing. */
export interface GapEntry {
  readonly k: "gap";
  /** When the gap was noticed. */
  readonly t: number;
  /** The start of the interval in which entries are missing. */
  readonly from: number;
  /** The end of that interval. */
  readonly to: number;
  /** The number of missing frames and lines. */
  readonly lost: number;
  /** Why the entries are missing. */
  readonly why: string;
}

/** The last line of a complete recording. */
export interface EndEntry {
  readonly k: "end";
  /** When the recording ended. */
  readonly t: number;
  /** The number of frames. */
  readonly frames: number;
  /** The number of bytes of all frames. */
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
