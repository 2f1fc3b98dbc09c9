import type { HttpAnswer, HttpRequest } from "./request.js";

/** The handler of one URL: a platform-neutral request in, a response out. Adapters convert from and to the platform. */
export interface HttpDoor {
  /** Never rejects. */
  handle(request: HttpRequest): Promise<HttpAnswer>;
  /** Stops accepting requests, waits up to `grace` milliseconds for running ones, then closes. */
  drain(grace: number): Promise<void>;
  /** Closes everything at once. */
  close(): void;
}
