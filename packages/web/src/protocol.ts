// The methods that the page calls and the notifications that it receives, in JSON-RPC over one WebSocket.

import type { Conversation, Level, parseFilter, Row, Verdict } from "@parlance/wire";
import type { ActMethods, PageActing } from "./act/act-protocol.js";
import type { CompareMethods } from "./panels/compare-protocol.js";
import type { InterceptMethods, PageInterception } from "./panels/intercept-protocol.js";
import type { TimelineMethods } from "./panels/timeline-protocol.js";

export type * from "./act/act-protocol.js";
export type * from "./panels/compare-protocol.js";
export type * from "./panels/intercept-protocol.js";
export type * from "./panels/timeline-protocol.js";

/** The subprotocol of the WebSocket. */
export const pageProtocol = "parlance-page";

/** The prefix of the page's token in the list of subprotocols: a browser can set no other header of a WebSocket. */
export const tokenPrefix = "parlance-token.";

type Session = Conversation["sessions"][number];
type ContractSide = Session["contract"]["client"];

/** A recording that can be opened. */
export interface RecordingName {
  readonly name: string;
  /** The time of the last write, in milliseconds since 1970. */
  readonly changed: number;
  readonly bytes: number;
  /** Its session runs: it may still grow. */
  readonly live: boolean;
}

/** A recorded client that is played to a live server. */
export interface PageReplay {
  /** The time of the recording that it has reached, in milliseconds. */
  readonly at: number;
  /** The time of its last message. */
  readonly until: number;
  /** The factor of the recorded speed; 0 for no pauses. */
  readonly speed: number;
  readonly runs: boolean;
  /** Whether all was sent and answered. */
  readonly isOver: boolean;
}

/** The open recording. */
export interface PageView {
  /** The name of the recording. */
  readonly recording: string;
  /** The command line or the URL of the server. */
  readonly server: string | undefined;
  /** The versions of the protocol in use. */
  readonly revisions: readonly string[];
  /** Whether it may still grow. */
  readonly live: boolean;
  /** The number of rows of the recording. */
  readonly total: number;
  /** The number of rows that match the filter. */
  readonly count: number;
  /** The number of violations (MUST) in the whole recording. */
  readonly violations: number;
  /** The number of requests without a response. */
  readonly pending: number;
  /** The time of the last row in milliseconds since the beginning. */
  readonly until: number;
  /** Whether the command line names another recording to compare this one with. */
  readonly compares: boolean;
}

/** Why a filter cannot be read. */
export type FilterFault = Extract<ReturnType<typeof parseFilter>, { ok: false }>["fault"];

/** One row of the list; the texts have no control characters. */
export interface PageRow extends Pick<Row, "n" | "at" | "from" | "kind"> {
  /** The id as written: `7`, `"7"`. */
  readonly id: string | undefined;
  /** The number of the frame with the response, or with the request of a response. */
  readonly pair: number | undefined;
  readonly what: string;
  /** The method; of a response, that of its request. */
  readonly method: string | undefined;
  /** The tool, prompt or URI in its params. */
  readonly names: string | undefined;
  /** The latency of a response, in milliseconds. */
  readonly latency: number | undefined;
  /** When the response to a request arrived, in milliseconds since the beginning. */
  readonly until: number | undefined;
  /** Whether it is a request without a response. */
  readonly waits: boolean;
  /** The HTTP status that refused a request, so that it has no response. */
  readonly refusal: number | undefined;
  /** The size in bytes. */
  readonly size: number | undefined;
  /** The rules with verdicts on it. */
  readonly rules: readonly { readonly id: string; readonly level: Level }[];
}

/** A verdict of a rule. */
export interface PageVerdict extends Omit<Verdict, "rule"> {
  /** The id of the rule. */
  readonly rule: string;
  readonly demands: string;
  /** The message without the fault: before, at and after the place that differs; all empty if no message was due. Undefined if it is not known. */
  readonly right: readonly [before: string, changed: string, after: string] | undefined;
  /** The change in the code that mends it, and an example; undefined if none is known. */
  readonly mend: { readonly says: string; readonly code?: string } | undefined;
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
  /** The bytes in base64; undefined for a row without bytes. */
  readonly bytes: string | undefined;
  /** Offsets and times of the chunks, if there was more than one. */
  readonly writes: readonly (readonly [offset: number, at: number])[];
  /** The HTTP headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Other facts, for a row that is not a frame. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/** A value as written, possibly truncated, and its byte range in the frame. */
export interface PageValue {
  readonly json: string;
  readonly range: readonly [start: number, end: number];
}

/** The differences of a message from an earlier one, apart from ids, tokens and times. */
export interface PageChanges {
  /** The number of the frame with the earlier message. */
  readonly before: number;
  /** The number of differences; only the first ones are listed. */
  readonly count: number;
  readonly changes: readonly {
    readonly pointer: string;
    readonly before: PageValue | undefined;
    readonly after: PageValue | undefined;
  }[];
}

/** The number of rows in an interval, and whether one of them breaks a rule. */
export interface PageBucket {
  readonly count: number;
  readonly bad: boolean;
}

/** The declarations of one side of a session. */
export interface PageContractSide extends Omit<ContractSide, "name" | "version"> {
  /** Name and version of the program. */
  readonly program: string | undefined;
}

/** The negotiated contract of one session. */
export interface PageContract extends Pick<Session["contract"], "requested" | "negotiated"> {
  readonly session: string;
  readonly client: PageContractSide;
  readonly server: PageContractSide;
  /** The number of client requests by version. */
  readonly versions: readonly (readonly [version: string, requests: number])[];
  /** The number of listed tools, and the bytes of their definitions. */
  readonly tools: { readonly count: number; readonly bytes: number };
}

/** The process of the server of one session. */
export interface PageProcess extends Omit<Session["process"], "take"> {
  readonly session: string;
  /** The requests without a response when the process ended, or now. */
  readonly unanswered: readonly { readonly n: number; readonly method: string; readonly reason: string }[];
}

/** How the server of the recording was started or reached. */
export interface PageOrigin {
  readonly mode: string | undefined;
  readonly command: string | undefined;
  readonly cwd: string | undefined;
  readonly envNames: readonly string[];
  readonly url: string | undefined;
  readonly host: string | undefined;
  readonly recorder: string | undefined;
  readonly startedOn: string | undefined;
}

/** The notifications that the page receives, with their params. */
export interface PageNotifications {
  /** The recording has grown. */
  readonly changed: PageView;
  /** A call, or a list of the server, has changed. */
  readonly acted: PageActing;
  /** A message is held or released, or a rule has changed. */
  readonly intercepted: PageInterception;
}

/** The tokens of a tool definition or a tool result. */
export interface PageCost {
  /** The number of the frame. */
  readonly n: number;
  readonly tool: string;
  readonly bytes: number;
  readonly tokens: number;
}

/** The duration of a request. */
export interface PageDuration {
  /** The number of its frame. */
  readonly n: number;
  readonly method: string;
  /** The tool, prompt or URI in its params. */
  readonly names: string | undefined;
  /** The latency in milliseconds. */
  readonly latency: number;
  /** The median of the other requests of the same method; undefined without others. */
  readonly usual: number | undefined;
}

/** The parts of the definition of a tool that model providers refuse. */
export interface PageRefusal extends Pick<Verdict, "n" | "range" | "says" | "spec"> {
  /** The id of the rule. */
  readonly rule: string;
  readonly pointer: string;
}

/** The cost of the tools of a recording, and the providers that accept them. */
export interface PageCosts {
  /** The name of the tokenizer. */
  readonly tokenizer: string;
  /** The totals of all definitions, and of all results. */
  readonly totals: Readonly<
    Record<
      "definitions" | "results",
      { readonly count: number; readonly bytes: number; readonly tokens: number | undefined }
    >
  >;
  /** The definitions, the most expensive first. */
  readonly definitions: readonly PageCost[];
  readonly results: readonly PageCost[];
  /** The slowest requests, the slowest first. */
  readonly slowest: readonly PageDuration[];
  readonly refusals: readonly PageRefusal[];
}

/** The completions of a filter. */
export interface FilterTerms {
  /** Conditions with values of the recording: `method:tools/call`. */
  readonly values: readonly string[];
  /** The saved filters, newest first. */
  readonly saved: readonly string[];
}

/** The methods of the page's server, with their params and results. */
export interface PageMethods extends ActMethods, CompareMethods, InterceptMethods, TimelineMethods {
  recordings(params: Record<string, never>): readonly RecordingName[];
  /**
   * Opens a recording, or sets another filter. Without a name: the one of the command line, or the newest. With the number of a row, only
   * the rows of its span are shown. Null if another view was asked for meanwhile.
   */
  open(params: {
    readonly recording?: string;
    readonly filter: string;
    readonly span?: number;
  }): PageView | { readonly fault: FilterFault } | null;
  rows(params: { readonly from: number; readonly count: number }): readonly PageRow[];
  frame(params: { readonly n: number }): PageFrame | null;
  /** The command line that repeats a request, or the request of a response; null for other messages. */
  commandLine(params: { readonly n: number }): string | null;
  /** The differences of a message from the previous one of the same method; null for the first. */
  changes(params: { readonly n: number }): PageChanges | null;
  /** The index of a row in the list; null if the filter hides it. */
  place(params: { readonly n: number }): number | null;
  /** The number of rows of the list up to a time in milliseconds, and the time of the next one. */
  until(params: { readonly at: number }): { readonly count: number; readonly next: number | undefined };
  /** Pauses or continues the replayed client, changes its speed, or moves it ahead. Returns its state; null without one. */
  replay(params: { readonly at?: number; readonly speed?: number; readonly runs?: boolean }): PageReplay | null;
  /** The next row with a violation, from an index in the list. */
  violation(params: { readonly from: number; readonly back: boolean }): number | null;
  overview(params: { readonly buckets: number }): readonly PageBucket[];
  terms(params: Record<string, never>): FilterTerms;
  /** Saves a filter, or removes it. Returns the saved filters. */
  saveFilter(params: { readonly filter: string; readonly saved: boolean }): readonly string[];
  /** The columns of the list that were left out last; null if none was ever chosen. */
  hiddenColumns(params: Record<string, never>): readonly string[] | null;
  hideColumns(params: { readonly names: readonly string[] }): null;
  contracts(params: Record<string, never>): readonly PageContract[];
  costs(params: Record<string, never>): PageCosts;
  processes(params: Record<string, never>): { readonly origin: PageOrigin; readonly processes: readonly PageProcess[] };
}
