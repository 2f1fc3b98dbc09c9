import { isObject, mcpHeaders, type Revision, revisionOf } from "@parlance/mcp/protocol";
import type { HttpEntry } from "../recording/entry.js";
import type { Frame } from "../recording/frame.js";
import type { HttpExchange, RecordedOperation } from "./message.js";

/**
 * All values of a header, joined as HTTP allows; undefined if it is absent. Names are case-insensitive.
 *
 * @example
 * headerOf(exchange.request, "content-type");
 */
export function headerOf({ headers = [] }: HttpEntry, name: string): string | undefined {
  const values = headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** The scheme and the authority of a URL, without a slash at its end; empty for a path. */
export function originOf(url: string): string {
  return /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(url)?.[0].toLowerCase() ?? "";
}

/** The path of a request, without its query and trailing slash. Recordings may have a path or a whole URL. */
export function pathOf(url: string): string {
  const path = url.slice(originOf(url).length).replace(/[?#].*$/s, "");
  return path.replace(/\/$/, "");
}

/** Whether the server accepted the request of an exchange. */
export function isTaken({ response }: HttpExchange): boolean {
  return response?.status !== undefined && response.status >= 200 && response.status < 300;
}

/** Whether the client sent no request: then only a status is due. */
export function asksNothing({ messages }: HttpExchange): boolean {
  const sent = messages.filter(({ from }) => from === "client");
  return sent.length > 0 && sent.every(({ kind }) => kind !== "req" && kind !== "none");
}

/** The HTTP status that refused a request before it got a JSON-RPC response: the client may send the same request again. */
export function refusalOf({ request, answer }: RecordedOperation): number | undefined {
  const { status = 0 } = request.context.exchange?.response ?? {};
  return answer === undefined && status >= 300 ? status : undefined;
}

/** The revision in the header of an exchange. */
export function spokenIn({ request }: HttpExchange): Revision | undefined {
  const named = headerOf(request, mcpHeaders.protocolVersion);
  return named === undefined ? undefined : revisionOf(named);
}

/**
 * Whether a body is read as a message. The body of a response without a request to answer can be anything that HTTP allows (a
 * page, an OAuth error, a word): it is a message only if it has a member `jsonrpc`.
 */
export function isMessageBody(
  { from, entry, json }: Frame,
  exchange: HttpExchange,
  { isLegacy }: { readonly isLegacy: boolean },
): boolean {
  if (exchange.signIn !== undefined) return false;
  // An event without data only gives the client an id for `Last-Event-ID`.
  if (entry.ch === "sse") return entry.len > 0;
  if (from === "client" || entry.ch !== "http") return true;
  if (exchange.request.method === "POST" && isTaken(exchange) && !asksNothing(exchange) && !isLegacy) return true;
  return saysJsonRpc(json.value);
}

function saysJsonRpc(value: unknown): boolean {
  return Array.isArray(value) ? value.some(saysJsonRpc) : isObject(value) && Object.hasOwn(value, "jsonrpc");
}
