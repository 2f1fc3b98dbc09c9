import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { latest } from "@parlance/mcp";

/** One request as it came in, to be answered by the test. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The message in the body; an empty one where there is no body. */
  readonly message: Message;
  readonly response: ServerResponse;
  /** Resolves when the client has gone, or has all of the answer. */
  readonly over: Promise<unknown>;
}

/** A message as the client wrote it. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly [member: string]: unknown };
}

/** A server on a real socket that does what a test says. */
export interface PlayedServer extends AsyncDisposable {
  readonly url: string;
  /** Everything that was asked, in order. */
  readonly asked: readonly Asked[];
  /** The next request that was not taken yet. */
  next(): Promise<Asked>;
  /** Breaks every connection, and listens no more. */
  close(): Promise<void>;
}

/** @param answer takes requests; those for which it gives false wait for `next` */
export async function playServer(answer: (asked: Asked) => unknown = () => false): Promise<PlayedServer> {
  const asked: Asked[] = [];
  const waiting: Asked[] = [];
  const takers: ((asked: Asked) => void)[] = [];
  const server = createServer((request, response) => {
    void read(request, response).then((each) => {
      asked.push(each);
      if (answer(each) !== false) return;
      const take = takers.shift();
      if (take === undefined) waiting.push(each);
      else take(each);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    next() {
      const first = waiting.shift();
      return first === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(first);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function read(request: IncomingMessage, response: ServerResponse): Promise<Asked> {
  const over = new Promise((resolve) => response.once("close", resolve));
  let body = "";
  for await (const chunk of request) body += chunk;
  const { method = "", url = "", headers } = request;
  return { method, path: url, headers, message: body === "" ? {} : JSON.parse(body), response, over };
}

export const discovered = { supportedVersions: [latest.version], capabilities: { tools: { listChanged: true } } };

/** A server of the stateless era: what is not about discovery waits for the test. */
export function playModern(capabilities: object = discovered.capabilities): Promise<PlayedServer> {
  return playServer((asked) => {
    if (asked.message.method !== "server/discover") return false;
    result(asked, { ...discovered, capabilities });
    return true;
  });
}

/** Answers with JSON. */
export function json({ response }: Asked, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

/** Answers a request with its result. */
export function result(asked: Asked, value: object): void {
  json(asked, 200, success(asked, value));
}

/** Answers a request with an error. */
export function failure(asked: Asked, status: number, code: number, message = "no", data?: unknown): void {
  json(asked, status, { jsonrpc: "2.0", id: asked.message.id, error: { code, message, data } });
}

/** The response to a request. */
export function success({ message: { id } }: Asked, value: object): object {
  return { jsonrpc: "2.0", id, result: { resultType: "complete", ...value } };
}

/** Begins an event stream. */
export function stream({ response }: Asked): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  return response;
}

/** A message as an event. */
export function event(message: unknown): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}

/** The progress token of a request. */
export function progressTokenOf({ message }: Asked): unknown {
  const { progressToken } = (message.params?._meta ?? {}) as { readonly progressToken?: number };
  return progressToken;
}

/** The text of a tool result. */
export function said(text: string): object {
  return { content: [{ type: "text", text }] };
}
