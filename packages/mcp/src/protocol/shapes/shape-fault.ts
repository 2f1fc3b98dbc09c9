import { kindOf } from "../../base/json.js";
import { visible } from "../../base/visible.js";

/** One place where a value does not have its shape. */
export interface ShapeFault {
  /**
   * JSON pointer to the place (RFC 6901), `""` for the value itself. It spells the names of members as the peer did:
   * make it visible before it is printed.
   */
  readonly pointer: string;
  /** What has to be there: `a string`, `"user" or "assistant"`. */
  readonly expected: string;
  /** What is there, cut short and safe to print: `5`, `"usr"`, `an object`, or `nothing`. */
  readonly received: string;
}

/** More than anyone reads; a bound for values that are wrong a million times. */
const mostFaults = 100;

/** The faults of one value, up to a bound. */
export class ShapeFaults {
  readonly found: ShapeFault[] = [];

  /** Whether there is no room for another fault, so that looking for more is useless. */
  get full(): boolean {
    return this.found.length >= mostFaults;
  }

  /** Whether the value has its shape. */
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
 * A fault in one sentence, safe to print: `/name must be a string, got 5`.
 * @param whole what the value itself is called, which has no name in a pointer
 */
export function describeFault({ pointer, expected, received }: ShapeFault, whole: string): string {
  return `${pointer === "" ? whole : visible(pointer)} must be ${expected}, got ${received}`;
}

const longestQuote = 40;

/** A value in a few words, for people. */
export function describeValue(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return kindOf(value);
  if (value.length <= longestQuote) return visible(JSON.stringify(value));
  return `${visible(JSON.stringify(value.slice(0, longestQuote)))} and ${value.length - longestQuote} characters more`;
}

/** `a`, `a or b`, `a, b or c`. */
export function eitherOf(words: readonly string[]): string {
  const [last = ""] = words.slice(-1);
  const others = words.slice(0, -1).join(", ");
  return others === "" ? last : `${others} or ${last}`;
}
