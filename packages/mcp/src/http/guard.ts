import type { MembersOf } from "../base/members.js";

/** Which requests are let in, by what their `Host` and `Origin` say and where they come from. */
export interface GuardOptions {
  /**
   * Names that this server answers to besides those of the loopback interface: `example.com`, `example.com:8443` for that
   * port alone, or `*.example.com` for every name below it. Without them, a page that points its own name at this machine is
   * turned away (DNS rebinding).
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Origins of pages that may call, as browsers send them: `https://app.example.com`, but also `vscode-file://vscode-app`,
   * `chrome-extension://<id>`, `tauri://localhost` or `app://-`. `null` stands for every page that hides its origin: local files
   * and sandboxed frames of any site. Pages from this machine may always call a server on this machine.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Serve other machines although nobody is asked who they are: they may call this machine `localhost`, as through a port that
   * a container publishes, and use the address at which they reach it. Default: false.
   */
  readonly exposed?: boolean;
  /** Answer to every name: for a server whose callers prove who they are, or behind a proxy that looks at names. */
  readonly anyHost?: boolean;
}

/** The members of `GuardOptions` that an application may give, for the check of options. */
export const guardMembers: MembersOf<Omit<GuardOptions, "anyHost" | "exposed">> = {
  allowedHosts: ["hosts", "allowedHost", "host"],
  allowedOrigins: ["origins", "allowedOrigin", "origin", "cors"],
};

/** Why a request is not let in. */
export interface GuardRefusal {
  readonly status: 400 | 403;
  /** What was received, and the remedy. */
  readonly reason: string;
}

/** The addresses of the two ends of a connection; of a Unix socket neither has one. */
export interface ConnectionEnds {
  readonly local: string | undefined;
  readonly remote: string | undefined;
}

/**
 * Looks at the values of `Host` and `Origin`, and at where the request comes from, if the platform says so; undefined for a
 * request that is let in.
 */
export type Guard = (
  host: string | undefined,
  origin: string | undefined,
  ends?: ConnectionEnds,
) => GuardRefusal | undefined;

/**
 * A page in somebody's browser can reach every server of that machine, by a name of its own or across origins. Both are told
 * by the headers that a page cannot set. Other machines can write any header: `localhost` counts only for who is there.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#security-warning
 *
 * @example
 * const guard = guardOf({ allowedOrigins: ["https://app.example.com"] });
 * const { remoteAddress: remote, localAddress: local } = request.socket;
 * const refusal = guard(request.headers.host, request.headers.origin, { remote, local });
 *
 * @throws TypeError for an allowed host or origin that is none
 */
export function guardOf(options: GuardOptions): Guard {
  const { allowedHosts = [], allowedOrigins = [], anyHost = false, exposed = false } = options;
  const hosts = new Set(allowedHosts.map(requireHost));
  const origins = new Set(allowedOrigins.map(requireOrigin));
  return (host, origin, ends) => {
    if (host === undefined || host === "") return { status: 400, reason: "the request has no Host" };
    const place = readHost(host);
    if (place === undefined) return { status: 403, reason: `Host ${quoted(host)} is not a host and a port` };
    const isLocal = loopback.has(place.name);
    const isNamed = anyHost || isAllowed(place, hosts);
    const isOwn = exposed && ends?.local !== undefined && place.name === inUrl(ends.local);
    if (!(isLocal || isNamed || isOwn))
      return { status: 403, reason: `Host ${quoted(host)} is not served here: name it in allowedHosts` };
    if (isLocal && !isNamed && !exposed && ends !== undefined && !isFromHere(ends)) {
      const reason = `Host ${quoted(host)} is this machine's own, and the request comes from another`;
      return { status: 403, reason: `${reason}: give authenticate, name it in allowedHosts, or set exposed` };
    }
    if (origin === undefined || origins.has(origin) || (isLocal && isLocalOrigin(origin))) return undefined;
    // A page that this very address has sent: no other site can have an address for its name.
    if (isOwn && (origin === `http://${place.whole}` || origin === `https://${place.whole}`)) return undefined;
    return { status: 403, reason: `pages of ${quoted(origin)} may not call: name it in allowedOrigins` };
  };
}

/** True for an address that only this machine reaches. */
export function isLoopback(address: string): boolean {
  return loopback.has(address) || isLoopbackAddress(address);
}

/** An IPv4 address as a socket that takes both kinds writes it. */
const mapped = /^::ffff:(?=\d+\.)/i;

function isLoopbackAddress(address: string): boolean {
  return (
    address === "127.0.0.1" || address === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address.replace(mapped, ""))
  );
}

/** True for a connection that was made on this machine. One without addresses is on a Unix socket, or in memory. */
function isFromHere({ local, remote }: ConnectionEnds): boolean {
  if (local === undefined && remote === undefined) return true;
  if (local !== undefined && isLoopbackAddress(local)) return true;
  return remote !== undefined && isLoopbackAddress(remote);
}

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** `uri-host [ ":" port ]` (RFC 9110 §7.2): a name, or an address in the form that URIs have for it. */
const hostGrammar = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;

interface Place {
  readonly name: string;
  /** With its port, if there is one. */
  readonly whole: string;
}

function readHost(host: string): Place | undefined {
  const whole = host.toLowerCase();
  const name = hostGrammar.exec(whole)?.[1];
  return name === undefined ? undefined : { name, whole };
}

/** True for a host that is named, with its port or without, or one below a name with a wildcard. */
function isAllowed({ name, whole }: Place, hosts: ReadonlySet<string>): boolean {
  if (hosts.size === 0) return false;
  if (hosts.has(name) || hosts.has(whole)) return true;
  if (name.includes("..")) return false;
  for (let dot = name.indexOf("."); dot > 0; dot = name.indexOf(".", dot + 1)) {
    if (hosts.has(`*${name.slice(dot)}`) || hosts.has(`*${whole.slice(dot)}`)) return true;
  }
  return false;
}

/** An address as it stands in a URL, and so in a `Host`. */
function inUrl(address: string): string {
  const plain = address.replace(mapped, "").replace(/%.*$/, "");
  return plain.includes(":") ? `[${plain}]` : plain;
}

function requireHost(host: string): string {
  const place = readHost(host.replace(/^\*\.(?=[^.]+\.[^.])/, ""));
  if (place === undefined) throw new TypeError(`allowedHosts: ${quoted(host)} is not a host, or a host and a port`);
  return host.toLowerCase();
}

/** The origin of a page that is not of the web: a scheme of its own, and a name that it may write as it likes. */
const otherOrigin = /^[a-z][a-z0-9+.-]*:\/\/[A-Za-z0-9._~-]*(?::\d{1,5})?$/;

function requireOrigin(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin === origin || origin === "null") return origin;
  // The platform calls the origin of every scheme that it does not know "null".
  if (url?.origin === "null" && otherOrigin.test(origin)) return origin;
  const remedy = url === undefined || url.origin === "null" ? "write scheme and host" : `write ${quoted(url.origin)}`;
  throw new TypeError(`allowedOrigins: ${quoted(origin)} is not an origin: ${remedy}`);
}

/** Pages of a server on this machine, e.g. of one that a developer runs. */
function isLocalOrigin(origin: string): boolean {
  const host = /^https?:\/\/(.*)$/.exec(origin)?.[1];
  const place = host === undefined ? undefined : readHost(host);
  return place !== undefined && loopback.has(place.name);
}

/** A header's value as it may stand in an answer or a log. */
function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}
