// The messages between an interceptor, which stands in the way of a conversation, and the page that commands it. They cross
// threads and processes: everything is plain data.

/** The decision on a held frame. */
export type Fate =
  /** As it came. */
  | { readonly did: "send" }
  /** Other bytes in its place. */
  | { readonly did: "change"; readonly text: string }
  | { readonly did: "drop" }
  /** It is not sent on; its sender gets this in return. */
  | { readonly did: "answer"; readonly text: string };

/** Why a frame was let go without a person: its time was up, no page is open, its stream has ended, its breakpoint is off. */
export type ReleaseReason = "time" | "page" | "end" | "rule";

/** A frame on its way that waits for a person. */
export interface HeldFrame {
  readonly key: number;
  readonly from: "client" | "server";
  /** The method; of a response, that of its request. */
  readonly method: string | undefined;
  /** The id as it was written. */
  readonly id: string | undefined;
  readonly kind: "request" | "notification" | "response" | "text";
  /** A request can be answered in place of its receiver; over HTTP only one of the client. */
  readonly isAnswerable: boolean;
  readonly bytes: number;
  /** Undefined if the bytes are not UTF-8: they can be let go or dropped, and not edited. */
  readonly text: string | undefined;
  /** The filter that holds it; undefined for a frame that waits only because it must not overtake another one. */
  readonly filter: string | undefined;
  /** The frame that it must not overtake. */
  readonly behind: number | undefined;
  /** Milliseconds after which it is let go; undefined while it waits for another one. */
  readonly limit: number | undefined;
}

/** Commands for an interceptor. */
export type ToInterceptor =
  /** Whether a page is open: without one nothing is held. */
  | { readonly do: "watch"; readonly isWatched: boolean }
  /** The rules in force: the filters of breakpoints, and faults as they are written. */
  | { readonly do: "rules"; readonly breakpoints: readonly string[]; readonly faults: readonly string[] }
  | { readonly do: "release"; readonly key: number; readonly fate: Fate };

/** Reports of an interceptor. */
export type FromInterceptor =
  /** A frame is held; or one that is held has a time limit from here on. */
  | { readonly is: "held"; readonly frame: HeldFrame }
  | { readonly is: "released"; readonly key: number; readonly why: ReleaseReason | undefined }
  /** A frame was sent on although a breakpoint matches, because too much is held. */
  | { readonly is: "full" };

/** An interceptor, as its page reaches it. */
export interface Interceptor {
  apply(command: ToInterceptor): void;
}
