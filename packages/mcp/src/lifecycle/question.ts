import type { JsonObject } from "../protocol/json.js";

/** Something that a handler asks the client: a method that a client answers, and its params in the newest shape. */
export interface Question {
  readonly method: string;
  readonly params: JsonObject;
  /** Names the visit to a page, in the revision that names visits. Default: a random one. */
  readonly elicitationId?: string;
}

/** Questions by key. A key names a question within its call. */
export type Questions = Readonly<Record<string, Question>>;

/** Answers by the keys of their questions. They come from a peer: each is to be checked against its question. */
export type Answers = Readonly<Record<string, unknown>>;
