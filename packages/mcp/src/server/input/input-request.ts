import type { JsonObject } from "../../base/json.js";

/** A request to the client: its method, and its params in the newest shape. */
export interface ClientRequest {
  /** The method of the request. */
  readonly method: string;
  /** The params of the request. */
  readonly params: JsonObject;
  /** Id of a URL elicitation, in the revision that has it. Default: a random one. */
  readonly elicitationId?: string;
}

/** Input requests by key. A key identifies a request within its call. */
export type InputRequests = Readonly<Record<string, ClientRequest>>;

/** Input responses by the keys of their requests. They come from a peer and must be validated against the request. */
export type InputResponses = Readonly<Record<string, unknown>>;

/** Return value of a handler that requests input by returning: the handler runs again with the responses. Made by `inputRequired`. */
export class InputRequired {
  /** The input requests, by name. */
  readonly questions: InputRequests;
  /** State that the client returns with the responses, encrypted. */
  readonly state: unknown;

  constructor(questions: InputRequests, state: unknown) {
    this.questions = questions;
    this.state = state;
  }
}
