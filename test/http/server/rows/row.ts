import type { Asked } from "../asked.js";

/** The sessions that rows can be in: of a revision without batches, and of one with them. */
export interface Opened {
  readonly session: string;
  readonly batching: string;
}

/** A request that a server turns away, and with what. */
export interface Row {
  readonly name: string;
  readonly asked: Asked | ((opened: Opened) => Asked);
  readonly status: number;
  /** The code of the error that its body is; without it there is no body. */
  readonly code?: number;
  /** A part of that body. */
  readonly says?: string;
  /** Whose request it answers. Default: none, for requests that are refused before they are read. */
  readonly id?: string | number;
  readonly headers?: Readonly<Record<string, string>>;
}
