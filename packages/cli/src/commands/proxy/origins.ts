import type { HeaderList } from "./headers.js";
import { headerValue } from "./headers.js";

/** The two names of one server: the one that clients use here, and its own. */
export interface Origins {
  readonly near: string;
  readonly far: string;
}

/** What a client says of us, as the server must hear it: its own host, and its own origin where a page of ours asks. */
export function towardsServer(headers: HeaderList, { near, far }: Origins): HeaderList {
  const { host } = new URL(far);
  return headers.map(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === "host") return [name, host];
    return lower === "origin" && value === near ? [name, far] : [name, value];
  });
}

/** Headers in which a server names itself, to tell a client where to go on. */
const naming: ReadonlySet<string> = new Set(["location", "content-location", "www-authenticate", "link"]);

/** What a server says of itself, as the client must hear it to stay on this way. */
export function towardsClient(headers: HeaderList, { near, far }: Origins): HeaderList {
  return headers.map(([name, value]) => [name, naming.has(name.toLowerCase()) ? renamed(value, far, near) : value]);
}

/** Documents by which a client finds out how to get in (RFC 9728, RFC 8414, OpenID Connect Discovery). */
const discovery =
  /^\/\.well-known\/(oauth-protected-resource|oauth-authorization-server|openid-configuration)(\/|$)|\/\.well-known\/(oauth-authorization-server|openid-configuration)$/;

/** Whether the answer to this path is a document in which a server names itself. */
export function isDiscovery(path: string): boolean {
  return discovery.test(path.replace(/\?.*$/s, ""));
}

/** Whether a body is a form, in which a client may name the server that it wants to get into. */
export function isForm(headers: HeaderList): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headerValue(headers, "content-type") ?? "");
}

/** One origin in place of the other wherever it stands: as it is, and percent-encoded as in a query. */
export function renamed(text: string, from: string, to: string): string {
  return replaceOrigin(replaceOrigin(text, from, to), encodeURIComponent(from), encodeURIComponent(to));
}

function replaceOrigin(text: string, from: string, to: string): string {
  // Not where the name goes on: https://example.com is no part of https://example.com.evil.
  const pattern = new RegExp(`${from.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w.:-])`, "gi");
  return text.replaceAll(pattern, () => to);
}
