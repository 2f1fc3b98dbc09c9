import type { JsonObject } from "../json.js";

/** A directory or file that a server may work in. */
export interface Root {
  /** A `file:` URI. */
  readonly uri: string;
  readonly name?: string;
  readonly _meta?: JsonObject;
}
