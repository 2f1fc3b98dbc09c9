import { isObject, mcpHeaders, type Revision, revisionOf } from "@parlance/mcp/protocol";
import type { HttpEntry } from "../recording/entry.js";
import type { Frame } from "../recording/frame.js";
import type { HttpExchange, RecordedOperation } from "./message.js";

/**
 * All values of a header, joined as HTTP allows; undefined where it is not there. Names have no case.
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

/** The path that a request goes to, without its query and a slash at its end; recordings have whole addresses too. */
export function pathOf(url: string): string {
  const path = url.slice(originOf(url).length).replace(/[?#].*$/s, "");
  return path.replace(/\/$/, "");
}

/** Whether the server has accepted what an exchange brings. */
export function isTaken({ response }: HttpExchange): boolean {
  return response?.status !== undefined && response.status >= 200 && response.status < 300;
}

/** The status with which HTTP itself refuses a request that has no response: its client may send it again as it is. */
export function refusalOf({ request, answer }: RecordedOperation): number | undefined {
  const { status = 0 } = request.context.exchange?.response ?? {};
  return answer === undefined && status >= 300 ? status : undefined;
}

/** The revision that an exchange is of by its header. */
export function spokenIn({ request }: HttpExchange): Revision | undefined {
  const named = headerOf(request, mcpHeaders.protocolVersion);
  return named === undefined ? undefined : revisionOf(named);
}

/**
 * Whether a body is read as a message. The body of a response is one where it answers a request, and says otherwise what
 * HTTP leaves open (a page, an error of OAuth, a word): then it is a message only if it has a member `jsonrpc`.
 */
export function isMessageBody(
  { from, entry, json }: Frame,
  exchange: HttpExchange,
  { isLegacy }: { readonly isLegacy: boolean },
): boolean {
  if (exchange.signIn !== undefined) return false;
  // An event without data gives the client an id to come back with.
  if (entry.ch === "sse") return entry.len > 0;
  if (from === "client" || entry.ch !== "http") return true;
  const { request, messages } = exchange;
  const sent = messages.filter((message) => message.from === "client");
  const asksNothing = sent.length > 0 && sent.every(({ kind }) => kind !== "req" && kind !== "none");
  if (request.method === "POST" && isTaken(exchange) && !asksNothing && !isLegacy) return true;
  return saysJsonRpc(json.value);
}

function saysJsonRpc(value: unknown): boolean {
  return Array.isArray(value) ? value.some(saysJsonRpc) : isObject(value) && Object.hasOwn(value, "jsonrpc");
}
