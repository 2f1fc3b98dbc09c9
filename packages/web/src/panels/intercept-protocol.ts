// The methods by which the page holds, changes and spoils messages on their way.

/** A breakpoint or a fault. */
export interface PageRule {
  readonly kind: "break" | "fault";
  /** The filter of a breakpoint; a fault as `--fault` has it: `tool:x => delay 2s`. */
  readonly text: string;
  readonly isOn: boolean;
}

/** A message on its way that waits for a person. */
export interface PageHeld {
  readonly key: number;
  readonly from: "client" | "server";
  /** The method; of a response, that of its request. */
  readonly method: string | undefined;
  /** The id as it was written. */
  readonly id: string | undefined;
  readonly kind: "request" | "notification" | "response" | "text";
  /** A request that can be answered in place of its receiver. */
  readonly isAnswerable: boolean;
  readonly bytes: number;
  /** Its bytes are UTF-8 and can be edited. */
  readonly isText: boolean;
  /** The filter that holds it; undefined for a message that only waits for another one. */
  readonly filter: string | undefined;
  /** The key of the held message that it must not overtake. */
  readonly behind: number | undefined;
  /** Milliseconds until it is let go. */
  readonly left: number | undefined;
}

/** The decision on a held message. */
export type PageFate =
  | { readonly did: "send" | "drop" }
  /** Other bytes in its place, or an answer to its sender. */
  | { readonly did: "change" | "answer"; readonly text: string };

/** Breakpoints, faults and held messages. */
export interface PageInterception {
  readonly transport: "stdio" | "http";
  readonly rules: readonly PageRule[];
  /** Oldest first. */
  readonly held: readonly PageHeld[];
  /** Messages that were sent on although a breakpoint matches: too much was held. */
  readonly passedOver: number;
  /** Messages that were let go without a person. */
  readonly letGo: number;
}

/** The methods of the page's server that intercept, with their params and results. */
export interface InterceptMethods {
  /** Null for a page that only shows recordings. */
  interception(params: Record<string, never>): PageInterception | null;
  /** The frames of the open recording that a rule was applied to, the newest last, by its text. */
  touched(params: { readonly rules: readonly string[] }): readonly (readonly number[])[];
  /** Sets all breakpoints and faults. */
  setRules(params: { readonly rules: readonly PageRule[] }): null;
  /** The bytes of a held message as text; null if they are not UTF-8. */
  heldText(params: { readonly key: number }): string | null;
  release(params: { readonly key: number; readonly fate: PageFate }): null;
}
