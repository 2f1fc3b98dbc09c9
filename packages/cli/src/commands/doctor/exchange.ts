import { latestHandshake } from "@parlance/mcp";
import { messagesOf, methods } from "@parlance/mcp/protocol";
import { EntryWriter, RawHttp, type RawReply, type RawRequest } from "@parlance/wire";
import { innermost } from "../../shared/client/url-failure.js";
import { messageOf } from "../../shared/failure.js";
import type { Header } from "../../shared/target/configured-target.js";

/** The URL, headers and timeout of the requests to an endpoint. */
export interface Endpoint {
  readonly url: URL;
  readonly headers: readonly Header[];
  /** The timeout of a request, in milliseconds. */
  readonly timeout: number;
}

/** The response of an endpoint, with the beginning of its body. */
export type HttpReply = NonNullable<RawReply["http"]>;

/** The request that every MCP server on HTTP answers, as it is sent. */
export function initialize(): string {
  const { version } = latestHandshake;
  const clientInfo = { name: "parlance doctor", version: "0.1.0" };
  const params = { protocolVersion: version, capabilities: {}, clientInfo };
  return JSON.stringify(messagesOf(version).request(1, methods.initialize, params));
}

/** One exchange with the beginning of its response. Never rejects. */
export async function exchange({ url, headers, timeout }: Endpoint, request: RawRequest, body = ""): Promise<RawReply> {
  const writer = new EntryWriter(() => undefined);
  const client = new RawHttp({ url: url.href, headers, timeout, writer, session: "1" });
  const reply = await client.send(body, undefined, { ...request, read: "beginning" });
  await client.close();
  return reply;
}

/** Sends the request of a check, without the headers of the user: they may hold a token. Without a response, `why` is the reason. */
export async function send(
  url: URL,
  timeout: number,
  { body, ...request }: Pick<RawRequest, "method" | "headers"> & { readonly body?: string },
): Promise<{ readonly http?: HttpReply | undefined; readonly why: string }> {
  const { http, error, silence } = await exchange({ url, headers: [], timeout }, request, body);
  return { http, why: error === undefined ? (silence ?? "") : reasonOf(error) };
}

/** The reason of a failed exchange. */
export function reasonOf(error: unknown): string {
  return messageOf(innermost(error));
}

/** The beginning of a body, as evidence; empty for an empty body. */
export function excerptOf(text: string): readonly string[] {
  return text.trim() === "" ? [] : [text.trim().slice(0, 200)];
}
