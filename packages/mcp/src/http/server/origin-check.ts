import type { MembersOf } from "../../base/check-members.js";

/** Options for the check of `Host`, `Origin` and the network address. */
export interface OriginCheckOptions {
  /**
   * Accepted hosts besides loopback: `example.com`, `example.com:8443` for that port only, or `*.example.com` for all
   * subdomains. Stops DNS rebinding, where a page points its own host name at this machine. Default: none; with `auth`, every host.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Accepted origins of web pages, as browsers send them: `https://app.example.com`, but also
   * `vscode-file://vscode-app`, `chrome-extension://<id>`, `tauri://localhost` or `app://-`. `null` accepts every page
   * with an opaque origin: local files and sandboxed frames of any site. Without being listed, pages with a loopback origin
   * may call a server on a loopback host, and `https:` pages of a host that is listed by its name that host. Default: none.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Allow other machines without authentication: they may use loopback hosts, as through a published port of a
   * container, and the address of this machine. Default: false.
   */
  readonly exposed?: boolean;
  /**
   * Accept every host, unless `allowedHosts` is set, and loopback hosts from any machine. For servers that authenticate their callers, or
   * behind a proxy that checks hosts. Default: false.
   */
  readonly anyHost?: boolean;
}

/** The members of `OriginCheckOptions` that users may set, to detect unknown options. */
export const originCheckMembers: MembersOf<Omit<OriginCheckOptions, "anyHost" | "exposed">> = {
  allowedHosts: ["strings", "hosts", "allowedHost", "host"],
  allowedOrigins: ["strings", "origins", "allowedOrigin", "origin", "cors"],
};

/** A rejected request. */
export type OriginRefusal = Readonly<{
  /** The HTTP status of the response to the refused request. */
  status: 400 | 403;
  /** The received value, and the remedy. */
  reason: string;
}>;

/** The addresses of a connection; undefined on a Unix socket. */
export type ConnectionEnds = Readonly<{
  /** The address of this end. */
  local: string | undefined;
  /** The address of the client. */
  remote: string | undefined;
}>;

/** Checks the values of `Host` and `Origin` and, if known, the addresses. Returns undefined for an accepted request. */
export type OriginCheck = (
  host: string | undefined,
  origin: string | undefined,
  ends?: ConnectionEnds,
) => OriginRefusal | undefined;

/**
 * Creates a check against cross-origin requests and DNS rebinding, with which a web page could call servers on its
 * user's machine. Pages cannot forge `Host` and `Origin`. Other machines can, so loopback hosts are accepted from this
 * machine only.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#security-warning
 *
 * @example
 * const checkOrigin = originCheck({ allowedOrigins: ["https://app.example.com"] });
 * const { remoteAddress: remote, localAddress: local } = incoming.socket;
 * const refusal = checkOrigin(incoming.headers.host, incoming.headers.origin, { remote, local });
 * if (refusal !== undefined) console.log(refusal.status, refusal.reason); // 403 Host "evil.example" is not …
 *
 * @throws TypeError for an invalid entry in the allowed hosts or origins
 */
export function originCheck(options: OriginCheckOptions): OriginCheck {
  const { allowedHosts, allowedOrigins = [], anyHost = false, exposed = false } = options;
  const hosts = new Set(allowedHosts?.map(requireHost));
  const origins = new Set(allowedOrigins.map(requireOrigin));
  /** The latest accepted request without an origin: most requests repeat the one before. */
  let accepted: (Partial<ConnectionEnds> & { readonly host: string }) | undefined;
  return (host, origin, ends) => {
    const isRepeated = accepted !== undefined && accepted.host === host && origin === undefined;
    if (isRepeated && ends?.local === accepted?.local && ends?.remote === accepted?.remote) return undefined;
    if (host === undefined || host === "") return { status: 400, reason: "the request has no Host" };
    const place = readHost(host);
    if (place === undefined) return { status: 403, reason: `Host ${quoted(host)} is not a host and a port` };
    const isLocal = loopback.has(place.name);
    const isNamed = (anyHost && allowedHosts === undefined) || isAllowed(place, hosts);
    const isOwn = exposed && ends?.local !== undefined && place.name === inUrl(ends.local);
    if (!(isLocal || isNamed || isOwn))
      return { status: 403, reason: `Host ${quoted(host)} is not served here: name it in allowedHosts` };
    if (isLocal && !isNamed && !anyHost && !exposed && ends !== undefined && !isFromHere(ends)) {
      const reason = `Host ${quoted(host)} is this machine's own, and the request comes from another`;
      return { status: 403, reason: `${reason}: give auth, name it in allowedHosts, or set exposed` };
    }
    if (origin === undefined) {
      accepted = { ...ends, host };
      return undefined;
    }
    if (origins.has(origin) || (isLocal && isLocalOrigin(origin))) return undefined;
    // A page of this server: of a host that was listed by its name, or of this very address. No other site has them. With `http:` a listed
    // host does not do: a proxy may end TLS before the server, and everybody in between can change a page that came without it.
    const isByName = hosts.has(place.name) || hosts.has(place.whole);
    if (origin === `https://${place.whole}` && (isByName || isOwn)) return undefined;
    if (origin === `http://${place.whole}` && isOwn) return undefined;
    if (origin === "null") return { status: 403, reason: hiddenOrigin };
    return { status: 403, reason: `pages of ${quoted(origin)} may not call: name it in allowedOrigins` };
  };
}

/** Naming it in `allowedOrigins` would let pages of every site in. */
const hiddenOrigin =
  'pages that hide their origin ("null"), such as local files, may not call: open the page from a web server';

/** True for a loopback name or address. */
export function isLoopback(address: string): boolean {
  return loopback.has(address) || isLoopbackAddress(address);
}

/** The prefix of an IPv4 address on a dual-stack socket. */
const mapped = /^::ffff:(?=\d+\.)/i;

function isLoopbackAddress(address: string): boolean {
  return (
    address === "127.0.0.1" || address === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address.replace(mapped, ""))
  );
}

/** True for a connection from this machine. One without addresses is on a Unix socket or in memory. */
function isFromHere({ local, remote }: ConnectionEnds): boolean {
  if (local === undefined && remote === undefined) return true;
  if (local !== undefined && isLoopbackAddress(local)) return true;
  return remote !== undefined && isLoopbackAddress(remote);
}

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** `uri-host [ ":" port ]` (RFC 9110 §7.2): a name, or an address as written in URIs. */
const hostGrammar = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;

interface Place {
  readonly name: string;
  /** Includes the port, if there is one. */
  readonly whole: string;
}

function readHost(host: string): Place | undefined {
  const whole = host.toLowerCase();
  const name = hostGrammar.exec(whole)?.[1];
  return name === undefined ? undefined : { name, whole };
}

/** True for an allowed host, with or without port, or a subdomain of a wildcard. */
function isAllowed({ name, whole }: Place, hosts: ReadonlySet<string>): boolean {
  if (hosts.size === 0) return false;
  if (hosts.has(name) || hosts.has(whole)) return true;
  if (name.includes("..")) return false;
  for (let dot = name.indexOf("."); dot > 0; dot = name.indexOf(".", dot + 1)) {
    if (hosts.has(`*${name.slice(dot)}`) || hosts.has(`*${whole.slice(dot)}`)) return true;
  }
  return false;
}

/** An address as written in a URL, and so in `Host`. */
function inUrl(address: string): string {
  const plain = address.replace(mapped, "").replace(/%.*$/, "");
  return plain.includes(":") ? `[${plain}]` : plain;
}

function requireHost(host: string): string {
  const place = readHost(host.replace(/^\*\.(?=[^.]+\.[^.])/, ""));
  if (place === undefined) {
    const isTooWide = /^\*(?:\.[^.]*)?$/.test(host);
    const written = /^https?:/.test(host) && URL.canParse(host) ? `: write ${quoted(new URL(host).host)}` : "";
    const remedy = isTooWide ? `: a wildcard needs two more names, as in "*.example.com"` : written;
    throw new TypeError(`allowedHosts: ${quoted(host)} is not a host, or a host and a port${remedy}`);
  }
  return host.toLowerCase();
}

/** An origin with a custom scheme and any host. */
const otherOrigin = /^[a-z][a-z0-9+.-]*:\/\/[A-Za-z0-9._~-]*(?::\d{1,5})?$/;

function requireOrigin(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin === origin || origin === "null") return origin;
  // `URL` returns the origin "null" for unknown schemes.
  if (url?.origin === "null" && otherOrigin.test(origin)) return origin;
  const remedy = url === undefined || url.origin === "null" ? "write scheme and host" : `write ${quoted(url.origin)}`;
  throw new TypeError(`allowedOrigins: ${quoted(origin)} is not an origin: ${remedy}`);
}

/** A loopback origin, such as that of a development server. */
function isLocalOrigin(origin: string): boolean {
  const host = /^https?:\/\/(.*)$/.exec(origin)?.[1];
  const place = host === undefined ? undefined : readHost(host);
  return place !== undefined && loopback.has(place.name);
}

/** Quotes a header value for a response or a log. */
function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}
