import type { ByteBudget } from "../../base/byte-budget.js";
import { checkMembers, requireFunction } from "../../base/check-members.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import { kindOf } from "../../base/json.js";
import type { Call } from "../../jsonrpc/call.js";
import { requireServable, type Servable } from "../../server/servable.js";
import type { HttpServerHandler } from "./http-server-handler.js";
import { McpHandler } from "./mcp-handler.js";
import { type HttpOptions, httpMembers, httpNotes } from "./options.js";
import { type BodyListener, BodyReader, type HttpExchange, type HttpHeaders, type HttpResponse } from "./request.js";
import { withHeaders } from "./responses.js";
import { RpcHandler, type RpcOptions, rpcMembers } from "./rpc-handler.js";
import type { EventSink, EventStream } from "./streams/event-stream.js";

/** A request handler for platforms with `Request` and `Response`. */
export type HttpHandler = ((request: Request) => Promise<Response>) &
  Readonly<{
    /** Stops accepting requests, waits up to `grace` milliseconds (default: 10,000) for running calls, then closes. */
    drain(grace?: number): Promise<void>;
    /** Closes every session and stream at once. */
    close(): void;
  }>;

const defaultGrace = 10_000;

const bodyWasRead =
  "the body of the request was read before this handler: mount the handler before the middleware that reads it, " +
  "or pass new Request(request, { body: text })";

/**
 * Serves MCP clients of every revision at one URL, on workers, Bun, Deno, Hono, Next and other platforms with `Request`
 * handlers.
 *
 * Without `auth`, only loopback hosts and pages of loopback origins are allowed; add others with `allowedHosts`
 * and `allowedOrigins`. A `Request` does not tell which machine it comes from, and any machine can send `Host:
 * localhost`: if the platform listens on all interfaces, set `auth`.
 *
 * @example
 * export default { fetch: httpHandler(server, { allowedHosts: ["mcp.example.com"] }) };
 *
 * @throws TypeError for an invalid entry in the allowed hosts or origins
 */
export function httpHandler(served: Servable, options: HttpOptions = {}): HttpHandler {
  checkMembers("httpHandler", options, httpMembers, httpNotes);
  requireServable("httpHandler", served);
  return handlerOf(new McpHandler(served, options));
}

/**
 * Serves plain JSON-RPC 2.0 on the same platforms: a POST contains a message or a batch, and its response is the
 * JSON-RPC response, or 204 if there is none. Hosts, origins and authentication are checked as by `httpHandler`.
 *
 * @example
 * const service = createService().method("ping", () => "pong");
 * export default { fetch: rpcHandler(service.call, { allowedHosts: ["rpc.example.com"] }) };
 *
 * @throws TypeError for an invalid entry in the allowed hosts or origins
 */
export function rpcHandler(call: Call, options: RpcOptions = {}): HttpHandler {
  requireFunction("rpcHandler", call, "write rpcHandler(service.call)");
  checkMembers("rpcHandler", options, rpcMembers);
  return handlerOf(new RpcHandler(call, options));
}

function handlerOf(serverHandler: HttpServerHandler): HttpHandler {
  const handle = async (platform: Request): Promise<Response> => {
    requireRequest(platform);
    return new Promise<Response>((resolve, reject) => {
      serverHandler.handle(new FetchExchange(platform, resolve, reject));
    });
  };
  return Object.assign(handle, {
    drain: (grace: number = defaultGrace) => serverHandler.drain(grace),
    close: () => serverHandler.close(),
  });
}

/** @throws TypeError for the context of a framework, e.g. of Hono */
function requireRequest(given: Request | { readonly headers?: undefined }): void {
  if (typeof given?.headers?.get === "function") return;
  throw new TypeError(
    `The handler takes a Request, got ${kindOf(given)} without headers: in Hono, write app.all("/mcp", ({ req }) => mcp(req.raw))`,
  );
}

/** A web `Request` as `HttpExchange`. */
class FetchExchange implements HttpExchange {
  readonly raw: Request;
  readonly #respond: (response: Response) => void;
  readonly #fail: (error: unknown) => void;
  #onGone: (() => void) | undefined;

  /** @param fail called if the platform does not accept the response */
  constructor(request: Request, respond: (response: Response) => void, fail: (error: unknown) => void) {
    this.raw = request;
    this.#respond = respond;
    this.#fail = fail;
  }

  get method(): string {
    return this.raw.method;
  }

  get url(): string {
    return this.raw.url;
  }

  header(name: string): string | undefined {
    const value = this.raw.headers.get(name);
    if (value !== null) return value;
    return name === "host" ? new URL(this.raw.url).host : undefined; // Some platforms omit the header.
  }

  /** A `Request` has no address. */
  get address(): undefined {
    return undefined;
  }

  readBody(maxBytes: number, budget: ByteBudget, done: BodyListener): void {
    if (this.raw.bodyUsed) throw new TypeError(bodyWasRead);
    let isWanted = true;
    const stop = (): void => {
      isWanted = false;
    };
    const body = new BodyReader(this.raw.headers.get("content-length"), maxBytes, budget, { stop, done });
    const read = async (): Promise<void> => {
      try {
        // The body is async iterable on all platforms, but not in the types of all of them.
        for await (const chunk of (this.raw.body ?? []) as AsyncIterable<Uint8Array>) {
          body.append(chunk);
          if (!isWanted) return;
        }
        body.end();
      } catch (error) {
        body.fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    void read();
  }

  onGone(listener: () => void): void {
    this.#onGone = listener;
    const { signal } = this.raw;
    if (signal.aborted) this.gone();
    else signal.addEventListener("abort", () => this.gone(), { once: true });
  }

  respond(response: HttpResponse, cors?: HttpHeaders): void {
    try {
      const { status, headers, body } = cors === undefined ? response : withHeaders(response, cors);
      const isStream = body !== undefined && typeof body !== "string";
      this.#respond(new Response(isStream ? readableOf(body, this) : (body ?? null), { status, headers }));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Called when the response is no longer needed. */
  gone(): void {
    const listener = this.#onGone;
    this.#onGone = undefined;
    listener?.();
  }
}

/** The number of bytes that the platform may buffer. */
const highWaterMark = 64 * 1024;

function readableOf(stream: EventStream, request: FetchExchange): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  let room: Deferred<void> | undefined;
  const sinkOf = (controller: ReadableStreamDefaultController<Uint8Array>): EventSink => ({
    write(text) {
      controller.enqueue(utf8.encode(text));
      if ((controller.desiredSize ?? 0) > 0) return undefined;
      room = deferred<void>();
      return room.promise;
    },
    end(text) {
      if (text !== undefined && text !== "") controller.enqueue(utf8.encode(text));
      controller.close();
    },
    destroy() {
      controller.error(new Error("the reader does not read"));
      request.gone();
    },
  });
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => stream.attach(sinkOf(controller)),
      pull: () => room?.resolve(),
      cancel() {
        stream.gone();
        request.gone();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark }),
  );
}
