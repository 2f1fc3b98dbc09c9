import { escapeControls } from "../../base/escape-controls.js";
import { kindOf } from "../../base/json.js";

/** A place where a value differs from its shape. */
export interface ShapeFault {
  /**
   * JSON pointer to the place (RFC 6901), `""` for the value itself. It contains member names from the peer: escape
   * control characters before printing.
   */
  readonly pointer: string;
  /** The expected value: `a string`, `"user" or "assistant"`. */
  readonly expected: string;
  /** The received value, shortened and safe to print: `5`, `"usr"`, `an object`, or `nothing`. */
  readonly received: string;
}

/** A limit for values with a million faults. */
const mostFaults = 100;

/** The faults of one value, up to a limit. */
export class ShapeFaults {
  readonly found: ShapeFault[] = [];

  /** Whether the limit is reached, so that the search can stop. */
  get full(): boolean {
    return this.found.length >= mostFaults;
  }

  /** Whether the value fits its shape. */
  get none(): boolean {
    return this.found.length === 0;
  }

  add(pointer: string, expected: string, received: string): void {
    if (!this.full) this.found.push({ pointer, expected, received });
  }

  addAll(faults: ShapeFaults): void {
    for (const { pointer, expected, received } of faults.found) this.add(pointer, expected, received);
  }
}

/**
 * A fault as one sentence, safe to print.
 * @param whole the name for the value itself, which has an empty pointer
 *
 * @example
 * describeFault({ pointer: "/name", expected: "a string", received: "5" }, "params"); // "/name must be a string, got 5"
 */
export function describeFault({ pointer, expected, received }: ShapeFault, whole: string): string {
  return `${pointer === "" ? whole : escapeControls(pointer)} must be ${expected}, got ${received}`;
}

const longestQuote = 40;

/**
 * A short description of a value, for display.
 *
 * @example
 * describeValue({ a: 1 }); // "an object"
 */
export function describeValue(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return kindOf(value);
  if (value.length <= longestQuote) return escapeControls(JSON.stringify(value));
  return `${escapeControls(JSON.stringify(value.slice(0, longestQuote)))} and ${value.length - longestQuote} characters more`;
}

/** `a`, `a or b`, `a, b or c`. */
export function eitherOf(words: readonly string[]): string {
  const [last = ""] = words.slice(-1);
  const others = words.slice(0, -1).join(", ");
  return others === "" ? last : `${others} or ${last}`;
}
