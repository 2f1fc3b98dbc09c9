// The methods by which the page holds and changes messages, and injects faults.

/** A breakpoint or a fault. */
export interface PageRule {
  readonly kind: "break" | "fault";
  /** The filter of a breakpoint, or a fault in the syntax of `--fault`: `tool:x => delay 2s`. */
  readonly text: string;
  readonly isOn: boolean;
}

/** A held message. */
export interface PageHeld {
  readonly key: number;
  readonly from: "client" | "server";
  /** The method; for a response, that of its request. */
  readonly method: string | undefined;
  /** The id as written. */
  readonly id: string | undefined;
  readonly kind: "request" | "notification" | "response" | "text";
  /** Whether a person can answer in place of the receiver: for requests; over HTTP, only for those of the client. */
  readonly isAnswerable: boolean;
  readonly bytes: number;
  /** Whether its bytes are UTF-8, so that it can be edited. */
  readonly isText: boolean;
  /** The filter that matches it; undefined for a message that only waits for another one. */
  readonly filter: string | undefined;
  /** The key of the held message that it must not overtake. */
  readonly behind: number | undefined;
  /** Milliseconds until it is released. */
  readonly left: number | undefined;
}

/** The decision on a held message. */
export type PageFate =
  /** Forward it unchanged, or do not forward it. */
  | { readonly did: "send" | "drop" }
  /** Send other bytes in its place, or do not forward it and send an answer to its sender. */
  | { readonly did: "change" | "answer"; readonly text: string };

/** Breakpoints, faults and held messages. */
export interface PageInterception {
  readonly transport: "stdio" | "http";
  readonly rules: readonly PageRule[];
  /** Oldest first. */
  readonly held: readonly PageHeld[];
  /** The number of messages that were forwarded although a breakpoint matches, because too much was held. */
  readonly passedOver: number;
  /** The number of messages that were released without a person. */
  readonly letGo: number;
}

/** The methods of the page's server that intercept, with their params and results. */
export interface InterceptMethods {
  /** Null for a page that only shows recordings. */
  interception(params: Record<string, never>): PageInterception | null;
  /** For each rule, the frames of the open recording that it was applied to, the newest last. */
  touched(params: { readonly rules: readonly string[] }): readonly (readonly number[])[];
  /** Sets all breakpoints and faults. */
  setRules(params: { readonly rules: readonly PageRule[] }): null;
  /** The bytes of a held message as text; null if they are not UTF-8. */
  heldText(params: { readonly key: number }): string | null;
  release(params: { readonly key: number; readonly fate: PageFate }): null;
}
