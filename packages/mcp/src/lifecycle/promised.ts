import type { ServerCapabilities } from "../protocol/capabilities.js";
import { unadvertisedMethods } from "../protocol/method-capabilities.js";

/** What a conversation may rely on. */
export interface Promised {
  /** The capabilities that the client was told. */
  readonly promised: ServerCapabilities;
  /** What needs other capabilities than these. */
  readonly unpromised: ReadonlySet<string>;
}

const known = new Map<string, Promised>();

/** More servers than one process has; whoever has more makes them anew. */
const maxKnown = 100;

/** The same object for the same capabilities: conversations are many, and each keeps what it was promised. */
export function promisedBy(capabilities: ServerCapabilities): Promised {
  const text = JSON.stringify(capabilities);
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size >= maxKnown) known.clear();
  const made = { promised: capabilities, unpromised: unadvertisedMethods(capabilities) };
  known.set(text, made);
  return made;
}
