import { type HeaderList, headerValue } from "./headers.js";

/** The origin of the proxy, which clients use, and that of the server. */
export interface Origins {
  readonly near: string;
  readonly far: string;
}

/** Rewrites headers of a request: the Host, and the Origin of a page of the proxy, become those of the server. */
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

/** Rewrites headers of a response: the server's origin becomes the proxy's, so that the client stays on the proxy. */
export function towardsClient(headers: HeaderList, { near, far }: Origins): HeaderList {
  return headers.map(([name, value]) => [name, naming.has(name.toLowerCase()) ? renamed(value, far, near) : value]);
}

/** Discovery documents of authorization (RFC 9728, RFC 8414, OpenID Connect Discovery). */
const discovery =
  /^\/\.well-known\/(oauth-protected-resource|oauth-authorization-server|openid-configuration)(\/|$)|\/\.well-known\/(oauth-authorization-server|openid-configuration)$/;

/** Whether this path is a discovery document, which holds the origin of the server. */
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
  // Not as the prefix of a longer host: https://example.com.evil.
  const pattern = new RegExp(`${from.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w.:-])`, "gi");
  return text.replaceAll(pattern, () => to);
}
