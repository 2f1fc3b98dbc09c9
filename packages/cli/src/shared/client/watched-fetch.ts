import type { ConnectOptions } from "@parlance/mcp/client";
import { clientLimits, decode, type RpcResponse, type Tapped } from "@parlance/mcp/jsonrpc";
import { BodyCutter, coverCredentials } from "@parlance/wire";
import { excerpt } from "../output/columns.js";

type Fetch = NonNullable<ConnectOptions["fetch"]>;
type RpcFailure = Extract<RpcResponse, { error: unknown }>;

/** Observes the HTTP traffic of a client, before the client acts on it. */
interface HttpWatcher {
  /** Called with a message in a body or an event. */
  see(tapped: Tapped): void;
  /** Called with HTTP events besides messages: refusals, opened streams, ended sessions. `isLost`: the server could not be reached. */
  tell(text: string, isLost?: boolean): void;
}

/** A `fetch` with an observer; `over` aborts open requests. */
export function watchedFetch(watcher: HttpWatcher, over: AbortSignal, send: Fetch = fetch): Fetch {
  return async (url, init) => {
    if (typeof init.body === "string") watcher.see({ kind: "sent", frame: init.body });
    const signal = init.signal ? AbortSignal.any([init.signal, over]) : over;
    const what = `${init.method ?? "GET"} ${url.pathname}`;
    const response = await send(url, { ...init, signal }).catch((error: unknown) => {
      // A POST that fails is a call that fails. The stream of a session is opened again and again, in silence.
      if (init.method === "GET" && !signal.aborted) watcher.tell(`${what}: the server cannot be reached`, true);
      throw error;
    });
    const { body, status, statusText, headers } = response;
    const line = statusLine(what, response);
    if (body === null) {
      if (status !== 202) watcher.tell(line);
      return response;
    }
    const reader = bodyReader(response, { what, line }, watcher);
    // A response with the same body, observed while it is read. The client does not use its URL.
    return new Response(observedBody(body, reader), { status, statusText, headers });
  };
}

/** Parses a body as it arrives. */
interface BodyReader {
  /** A chunk, which must not be changed. */
  push(chunk: Uint8Array): void;
  /** @param isWhole false for a body that broke off or was cancelled */
  end(isWhole: boolean): void;
}

/** The request of a body, as text. */
interface Exchange {
  /** The method and path. */
  readonly what: string;
  /** The method, path and status. */
  readonly line: string;
}

/** The parser for the body of a response: events, a message, or anything else. */
function bodyReader(response: Response, exchange: Exchange, watcher: HttpWatcher): BodyReader {
  const type = mediaTypeOf(response);
  if (response.ok && type === "text/event-stream") return eventReader(exchange, watcher);
  if (response.ok && type === "application/json") return textReader((text, isWhole) => seeJson(text, isWhole, watcher));
  const isExpected = response.status === 202;
  return textReader((text) => {
    const error = response.ok ? undefined : errorIn(text);
    if (error?.id !== undefined && error.id !== null) watcher.see({ kind: "received", frame: text });
    if (isExpected) return;
    const said = error === undefined ? text : `${error.error.code} ${error.error.message}`;
    watcher.tell(said === "" ? exchange.line : `${exchange.line}: ${said}`);
  }, refusalCharacters);
}

/** The maximum number of characters shown of a body that is not a message. */
const refusalCharacters = 2_000;

function seeJson(text: string, isWhole: boolean, { see }: HttpWatcher): void {
  const message = "the body broke off in the middle of a message";
  if (isWhole) see({ kind: "received", frame: text });
  else if (text !== "")
    see({ kind: "refused", refusal: { reason: "truncated", message, head: text, bytes: Buffer.byteLength(text) } });
}

/** The JSON-RPC error in the body of a refusal, if it has no id: with an id, it is an ordinary message. */
function errorIn(text: string): RpcFailure | undefined {
  const message = decode(text, undefined, clientLimits);
  return "error" in message ? message : undefined;
}

function textReader(
  take: (text: string, isWhole: boolean) => void,
  longest: number = clientLimits.frameBytes,
): BodyReader {
  const decoder = new TextDecoder();
  let text = "";
  return {
    push(chunk) {
      if (text.length < longest) text += decoder.decode(chunk, { stream: true });
    },
    end: (isWhole) => take(excerpt(text, longest), isWhole),
  };
}

/** Reads an event stream: messages, and events with other names, such as `endpoint` of HTTP+SSE. */
function eventReader({ what, line }: Exchange, { see, tell }: HttpWatcher): BodyReader {
  if (what.startsWith("GET ")) tell(`${line}: the stream is open`);
  const cutter = new BodyCutter("text/event-stream");
  const decoder = new TextDecoder();
  return {
    push(chunk) {
      for (const { bytes, len, ev: { event = "message" } = {} } of cutter.push(chunk, 0)) {
        const data = decoder.decode(bytes);
        if (bytes.length < len) tell(`${what}: an event of ${len} bytes, which is too long to be shown`);
        else if (event !== "message") tell(`${what}: event ${event}: ${data}`);
        else if (data !== "") see({ kind: "received", frame: data });
      }
    },
    end: () => undefined,
  };
}

/** A copy of a body stream; each chunk is parsed before it is passed on. */
export function observedBody(body: ReadableStream<Uint8Array>, seen: BodyReader): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            seen.push(value);
            controller.enqueue(value);
          } else {
            seen.end(true);
            controller.close();
          }
        } catch (error) {
          seen.end(false);
          controller.error(error);
        }
      },
      async cancel(reason) {
        seen.end(false);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function statusLine(what: string, response: Response): string {
  const { status, statusText, headers } = response;
  const words = [status, statusText, mediaTypeOf(response)].filter((word) => word !== "");
  const location = headers.get("location");
  return `${what}: ${words.join(" ")}${location === null ? "" : `, go to ${coverCredentials({ url: location }).url}`}`;
}

/** The media type of a response, without parameters. */
export function mediaTypeOf({ headers }: { readonly headers: Headers }): string {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  return type.trim().toLowerCase();
}
