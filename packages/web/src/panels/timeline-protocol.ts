import type { Conversation } from "@parlance/wire";

type Span = Conversation["timeline"]["spans"][number];

/** A span on the timeline, or several merged ones that are too narrow. */
export interface PageSpan extends Pick<Span, "n" | "kind" | "from" | "lane" | "at" | "until" | "isBad"> {
  /** The number of spans that it represents. */
  readonly count: number;
  /** The method and the tool, prompt or URI, without control characters. */
  readonly what: string;
  /** The parts, if the span is wide enough for them. */
  readonly parts: readonly Pick<PageSpanPart, "kind" | "at" | "until">[];
  /** The times of its notifications. */
  readonly notices: readonly number[];
}

/** One request of a span with its response; in a sign-in, one exchange of HTTP. */
export interface PageSpanPart extends Pick<Span["parts"][number], "kind" | "n" | "from" | "at" | "until"> {
  readonly what: string;
  /** `ok`, `isError`, `error -32602`, `HTTP 401`; undefined while there is none. */
  readonly outcome: string | undefined;
}

/** The spans of a part of the recording. */
export interface PageTimeline {
  readonly lanes: number;
  /** The spans, in order of their starts. */
  readonly spans: readonly PageSpan[];
}

/** Everything about one span. */
export interface PageSpanDetail extends Omit<PageSpan, "parts" | "notices" | "count" | "lane"> {
  /** The first of its requests. */
  readonly parts: readonly PageSpanPart[];
  readonly partCount: number;
  readonly noticeCount: number;
  /** The numbers of its first rows. */
  readonly rows: readonly number[];
  readonly rowCount: number;
  /**
   * Milliseconds that the receiver of the operation waited for its sender: for responses to input requests, and for further
   * rounds.
   */
  readonly waited: number;
}

/** The methods for the timeline. */
export interface TimelineMethods {
  /** The spans between two times, in milliseconds, for a width in pixels. */
  timeline(params: { readonly from: number; readonly until: number; readonly pixels: number }): PageTimeline;
  /** The span of a row; null without one. */
  span(params: { readonly n: number }): PageSpanDetail | null;
}
