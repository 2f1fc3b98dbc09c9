import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { EventCutter } from "@parlance/wire";
import type { Rewriter } from "../../shared/forward.js";

/** Headers in their original order and case, which Node keeps in a flat list of names and values. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** The headers of a message, unchanged. */
export function headersOf({ rawHeaders }: IncomingMessage): HeaderList {
  return pairsOf(rawHeaders);
}

/** The pairs of Node's flat list of names and values. */
export function pairsOf(list: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < list.length; at += 2) pairs.push([list[at] ?? "", list[at + 1] ?? ""]);
  return pairs;
}

/** The first value of a header. */
export function headerValue(headers: HeaderList, name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1];
}

/** Hop-by-hop headers (RFC 9110 §7.6.1). */
const ofTheConnection: ReadonlySet<string> = new Set(["connection", "keep-alive", "proxy-connection", "te", "upgrade"]);

/** The end-to-end headers. */
export function endToEnd(headers: HeaderList): HeaderList {
  const named = headers
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.split(","));
  const dropped = new Set([...ofTheConnection, ...named.map((name) => name.trim().toLowerCase())]);
  // Content-Length is kept even if Connection names it.
  dropped.delete("content-length");
  dropped.delete("transfer-encoding");
  return headers.filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** The headers with a new Content-Length. */
export function withLength(headers: HeaderList, length: number): HeaderList {
  const others = headers.filter(([name]) => !/^(content-length|transfer-encoding)$/i.test(name));
  return [...others, ["Content-Length", String(length)]];
}

/** The maximum number of bytes at the beginning of a stream that are held and searched before they are forwarded. */
const mostHeld = 64 * 1024;

const nothing = new Uint8Array(0);

/**
 * Forwards an event stream unchanged, except for a first event with an absolute URL for POSTs (HTTP+SSE of 2024-11-05): that
 * event is held until it is complete, and its origin becomes that of the proxy.
 */
export function endpointRewriter({ near, far }: Origins): Rewriter {
  let held: Uint8Array = nothing;
  let cutter: EventCutter | undefined = new EventCutter();
  const release = (bytes: Uint8Array): Uint8Array => {
    cutter = undefined;
    return bytes;
  };
  return {
    push(bytes) {
      if (cutter === undefined) return bytes;
      held = Buffer.concat([held, bytes]);
      const [first] = cutter.push(bytes, 0);
      if (first?.ev.event === "endpoint") return release(Buffer.from(renamed(Buffer.from(held).toString(), far, near)));
      if (first !== undefined || !mayBeEndpoint(held)) return release(held);
      return nothing;
    },
    end: () => (cutter === undefined ? nothing : release(held)),
  };
}

/** The two fields with which the event may begin. */
const beginnings = ["event:", "data:"];

function mayBeEndpoint(held: Uint8Array): boolean {
  const text = Buffer.from(held.subarray(0, 8)).toString().trimStart();
  return held.length <= mostHeld && beginnings.some((each) => each.startsWith(text) || text.startsWith(each));
}

/** The origin of the proxy, which clients use, and that of the server. */
export interface Origins {
  readonly near: string;
  readonly far: string;
}

/** Rewrites request headers: Host, and Origin if it is that of the proxy, become those of the server. */
export function towardsServer(headers: HeaderList, { near, far }: Origins): HeaderList {
  const { host } = new URL(far);
  return headers.map(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === "host") return [name, host];
    return lower === "origin" && value === near ? [name, far] : [name, value];
  });
}

/** Response headers that may hold the origin of the server. */
const naming: ReadonlySet<string> = new Set(["location", "content-location", "www-authenticate", "link"]);

/** Rewrites response headers: the server's origin becomes the proxy's, so that the client stays on the proxy. */
export function towardsClient(headers: HeaderList, { near, far }: Origins): HeaderList {
  return headers.map(([name, value]) => [name, naming.has(name.toLowerCase()) ? renamed(value, far, near) : value]);
}

/** Discovery documents of authorization (RFC 9728, RFC 8414, OpenID Connect Discovery). */
const discovery =
  /^\/\.well-known\/(oauth-protected-resource|oauth-authorization-server|openid-configuration)(\/|$)|\/\.well-known\/(oauth-authorization-server|openid-configuration)$/;

/** Whether a path is that of a discovery document, which holds the origin of the server. */
export function isDiscovery(path: string): boolean {
  return discovery.test(path.replace(/\?.*$/s, ""));
}

/** Whether a body is a form, which may hold the origin of the server as `resource`. */
export function isForm(headers: HeaderList): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headerValue(headers, "content-type") ?? "");
}

/** Replaces one origin by the other wherever it occurs, plain or percent-encoded. */
export function renamed(text: string, from: string, to: string): string {
  return replaceOrigin(replaceOrigin(text, from, to), encodeURIComponent(from), encodeURIComponent(to));
}

function replaceOrigin(text: string, from: string, to: string): string {
  // Not within a longer host name: https://example.com.evil.
  const pattern = new RegExp(`${from.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w.:-])`, "gi");
  return text.replaceAll(pattern, () => to);
}

/** An error response of the proxy itself. */
export function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`parlance proxy: ${why}\n`);
}

/**
 * The field that tells a proxy's own response from one of the server: https://www.rfc-editor.org/rfc/rfc9209
 * The id is of this process, so that no server can send the same and have its body read without a bound.
 */
const proxyStatus = "proxy-status";
const unreachable = `parlance; error=destination_unavailable; id="${randomUUID()}"`;

/** The response of the proxy for a server that cannot be reached. */
export function refuseUnreachable(response: ServerResponse, origin: string, why: string): void {
  response.setHeader(proxyStatus, unreachable);
  refuse(response, 502, `${origin} cannot be reached: ${why}`);
}

/** Why the proxy could not reach the server; undefined for a response of the server. */
export async function whyUnreachable(response: Response): Promise<string | undefined> {
  if (response.headers.get(proxyStatus) !== unreachable) return undefined;
  const [, why] = (await response.text()).split(" cannot be reached: ");
  return why?.trim();
}
