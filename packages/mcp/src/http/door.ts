import type { HttpAnswer, HttpRequest } from "./request.js";

/** What stands behind a URL: a plain request in, a plain answer out. What the platform brings and takes is for its adapter. */
export interface HttpDoor {
  /** Never rejects. */
  handle(request: HttpRequest): Promise<HttpAnswer>;
  /** Takes nothing new, and lets what runs come to its end for at most `grace` milliseconds. Then everything is ended. */
  drain(grace: number): Promise<void>;
  /** Ends everything at once. */
  close(): void;
}
