import { inHook } from "../jsonrpc/hooks.js";

/** Milliseconds until an authorization server has to have responded. */
const timeout = 5_000;

/** The most bytes of a response of an authorization server. */
const maxBytes = 256 * 1024;

/** A request of the OAuth libraries. They write undefined for members that they leave out. */
interface BoundedRequest {
  readonly method?: string;
  readonly headers?: HeadersInit | undefined;
  readonly body?: BodyInit | null | undefined;
}

/** Sends a request: a `fetch` of the application. */
export type OwnFetch = (url: URL, init: RequestInit) => Promise<Response>;

/** Sends a request to an authorization server, as the OAuth libraries do. */
export type BoundedFetch = (url: string, init?: BoundedRequest) => Promise<Response>;

/**
 * `fetch` for documents of authorization servers: within a time and a size, and without redirects, which could lead anywhere.
 *
 * @param send what sends the request; default: the platform's `fetch`
 * @throws Error for a response that is late, too long or a redirect; HookError for what `send` throws
 */
export async function boundedFetch(url: string, init: BoundedRequest = {}, send?: OwnFetch): Promise<Response> {
  // Not `AbortSignal.any` of a timeout, which Node 20 may collect before it fires. The libraries give no signal but timeouts of their own.
  const deadline = AbortSignal.timeout(timeout);
  // A function of the application may ignore the signal; what waits for it must not wait for ever.
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener("abort", () => reject(deadline.reason as Error), { once: true });
  });
  return await Promise.race([late, whole(url, init, send, deadline)]);
}

async function whole(
  url: string,
  { method = "GET", headers = {}, body = null }: BoundedRequest,
  send: OwnFetch | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const request: RequestInit = { method, headers, body, redirect: "manual", signal };
  const response = await (send === undefined
    ? fetch(new URL(url), request)
    : inHook("fetch", () => send(new URL(url), request)));
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  // The body is async iterable on all platforms, but not in the types of all of them.
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    bytes += part.length;
    if (bytes > maxBytes) throw new Error(`${url} has more than ${maxBytes} bytes`);
    parts.push(part);
  }
  const { status, statusText } = response;
  const mayHaveBody = status !== 204 && status !== 304;
  return new Response(mayHaveBody ? new Blob(parts) : null, { status, statusText, headers: response.headers });
}
