import type { JsonObject } from "../../base/json.js";

/** A directory or file that a server may work in. */
export interface Root {
  /** A `file:` URI. */
  readonly uri: string;
  /** The name to display. */
  readonly name?: string;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}
