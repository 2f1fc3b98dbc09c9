import type { HttpRequest, HttpResponse } from "./request.js";

/** The handler of one URL: a platform-neutral request in, a response out. Adapters convert from and to the platform. */
export interface HttpServerHandler {
  /** Never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** Stops accepting requests, waits up to `grace` milliseconds for running ones, then closes. */
  drain(grace: number): Promise<void>;
  /** Closes everything at once. */
  close(): void;
}
