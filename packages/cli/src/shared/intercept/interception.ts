// The messages between an interceptor and the page that controls it. They cross threads and processes, so everything is plain
// data.

import type { PageFate, PageHeld } from "@parlance/web/protocol";

/** The decision on a held frame. */
export type Fate = PageFate;

/**
 * Why a frame was released without a person: its time was up, no page is open, its stream has ended, or its breakpoint was
 * removed.
 */
export type ReleaseReason = "time" | "page" | "end" | "rule";

/** A held frame, with the keys of its interceptor. */
export interface HeldFrame extends Omit<PageHeld, "isText" | "left"> {
  /** The text. Undefined if the bytes are not UTF-8: they can be forwarded or dropped, but not edited. */
  readonly text: string | undefined;
  /** Milliseconds after which it is released; undefined while it waits for another one. */
  readonly limit: number | undefined;
}

/** Commands for an interceptor. */
export type ToInterceptor =
  /** Whether a page is open; without one, no frame is held. */
  | { readonly do: "watch"; readonly isWatched: boolean }
  /** The rules from now on: the filters of breakpoints, and the texts of faults. The number is that of the report `applied`. */
  | {
      readonly do: "rules";
      readonly number: number;
      readonly breakpoints: readonly string[];
      readonly faults: readonly string[];
    }
  | { readonly do: "release"; readonly key: number; readonly fate: Fate };

/** Reports of an interceptor. */
export type FromInterceptor =
  /** A frame is held, or a held frame has a time limit from now on. */
  | { readonly is: "held"; readonly frame: HeldFrame }
  | { readonly is: "released"; readonly key: number; readonly why: ReleaseReason | undefined }
  /** The rules of a command are in force for every frame that arrives after this report. */
  | { readonly is: "applied"; readonly number: number }
  /** A frame was forwarded although a breakpoint matches, because too much is held. */
  | { readonly is: "full" };

/** An interceptor, as a page controls it. */
export interface Interceptor {
  apply(command: ToInterceptor): void;
}
