// The methods that the page calls and the notifications that it gets, in JSON-RPC over one WebSocket.

/** The subprotocol of the WebSocket. */
export const pageProtocol = "parlance-page";

/** What precedes the token of the page in the list of subprotocols: a browser can set no other header of a WebSocket. */
export const tokenPrefix = "parlance-token.";

/** The levels of verdicts; see `Level` of `@parlance/wire`. */
export type VerdictLevel = "must" | "should" | "may";

/** A recording that can be opened. */
export interface RecordingName {
  readonly name: string;
  /** The time of the last write, in milliseconds since 1970. */
  readonly changed: number;
  readonly bytes: number;
}

/** What is open. */
export interface PageView {
  /** The name of the recording. */
  readonly recording: string;
  /** The command line or the URL of the server. */
  readonly server: string | undefined;
  /** The versions of the protocol in use. */
  readonly revisions: readonly string[];
  /** It may still grow. */
  readonly live: boolean;
  /** Rows of the recording. */
  readonly total: number;
  /** Rows that match the filter. */
  readonly count: number;
  /** Verdicts that a requirement (MUST) is broken, in the whole recording. */
  readonly violations: number;
  /** Requests without a response. */
  readonly pending: number;
  /** The time of the last row in milliseconds since the beginning. */
  readonly until: number;
}

/** Why a filter cannot be read. */
export interface FilterFault {
  /** The offset in the text. */
  readonly at: number;
  readonly says: string;
}

/** One row of the list; the texts have no control characters. */
export interface PageRow {
  readonly n: number | undefined;
  /** Milliseconds since the recording began. */
  readonly at: number;
  readonly from: "client" | "server" | undefined;
  readonly kind: string;
  /** The id as it was written: `7`, `"7"`. */
  readonly id: string | undefined;
  /** The number of the frame with the response, or with the request of a response. */
  readonly pair: number | undefined;
  readonly what: string;
  /** In milliseconds, of a response. */
  readonly latency: number | undefined;
  /** When the response of a request had arrived, in milliseconds since the beginning. */
  readonly until: number | undefined;
  /** A request without a response. */
  readonly waits: boolean;
  /** In bytes. */
  readonly size: number | undefined;
  /** The rules with verdicts on it. */
  readonly rules: readonly { readonly id: string; readonly level: VerdictLevel }[];
}

/** A verdict of a rule. */
export interface PageVerdict {
  readonly rule: string;
  readonly level: VerdictLevel;
  readonly party: string;
  readonly pointer: string | undefined;
  /** Bytes of the frame, the end exclusive. */
  readonly range: readonly [number, number] | undefined;
  readonly header: string | undefined;
  readonly says: string;
  readonly demands: string;
  readonly sentence: string | undefined;
  readonly version: string | undefined;
  readonly spec: string;
}

/** Everything about one row. */
export interface PageFrame {
  readonly row: PageRow;
  readonly channel: string | undefined;
  readonly session: string | undefined;
  /** The revision by which it was judged. */
  readonly revision: string | undefined;
  readonly verdicts: readonly PageVerdict[];
  readonly unjudged: string | undefined;
  /** Why a request has no response. */
  readonly pending: string | undefined;
  /** The bytes in base64; undefined for a row without any. */
  readonly bytes: string | undefined;
  /** Offsets and times of the chunks in which they were written, if there was more than one. */
  readonly writes: readonly (readonly [offset: number, at: number])[];
  /** Headers of HTTP. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Other facts, of a row that is no frame. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/** How many rows there are at a time, and whether one of them breaks a rule. */
export interface PageBucket {
  readonly count: number;
  readonly bad: boolean;
}

/** The methods of the page's server, with their params and results. */
export interface PageMethods {
  recordings(params: Record<string, never>): readonly RecordingName[];
  /** Opens a recording, or sets another filter. Without a name: the one of the command line, or the newest. */
  open(params: { readonly recording?: string; readonly filter: string }): PageView | { readonly fault: FilterFault };
  rows(params: { readonly from: number; readonly count: number }): readonly PageRow[];
  frame(params: { readonly n: number }): PageFrame | null;
  /** The place of a row in the list; null if the filter hides it. */
  place(params: { readonly n: number }): number | null;
  /** The next row with a violation, from a place in the list. */
  violation(params: { readonly from: number; readonly back: boolean }): number | null;
  overview(params: { readonly buckets: number }): readonly PageBucket[];
}
