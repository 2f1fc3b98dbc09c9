/** Which requests are let in, by what their `Host` and `Origin` say. */
export interface GuardOptions {
  /**
   * Names that this server answers to besides those of the loopback interface: `example.com`, or `example.com:8443` for
   * that port alone. Without them, a page that points its own name at this machine is turned away (DNS rebinding).
   */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call, e.g. `https://app.example.com`. Pages from this machine may always. */
  readonly allowedOrigins?: readonly string[];
  /** Answer to every name: for a server whose callers prove who they are, or behind a proxy that looks at names. */
  readonly anyHost?: boolean;
}

/** Why a request is not let in. */
export interface GuardRefusal {
  readonly status: 400 | 403;
  /** What was received, and the remedy. */
  readonly reason: string;
}

/** Looks at the values of `Host` and `Origin`; undefined for a request that is let in. */
export type Guard = (host: string | undefined, origin: string | undefined) => GuardRefusal | undefined;

/**
 * A page in somebody's browser can reach every server of that machine, by a name of its own or across origins. Both are told
 * by the headers that a page cannot set.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#security-warning
 *
 * @throws TypeError for an allowed host or origin that is none
 */
export function guardOf({ allowedHosts = [], allowedOrigins = [], anyHost = false }: GuardOptions): Guard {
  const hosts = new Set(allowedHosts.map(requireHost));
  const origins = new Set(allowedOrigins.map(requireOrigin));
  return (host, origin) => {
    if (host === undefined || host === "") return { status: 400, reason: "the request has no Host" };
    const place = readHost(host);
    if (place === undefined) return { status: 403, reason: `Host ${quoted(host)} is not a host and a port` };
    const isLocal = loopback.has(place.name);
    if (!(isLocal || anyHost || hosts.has(place.name) || hosts.has(place.whole)))
      return { status: 403, reason: `Host ${quoted(host)} is not served here: name it in allowedHosts` };
    if (origin === undefined || origins.has(origin) || (isLocal && isLocalOrigin(origin))) return undefined;
    return { status: 403, reason: `pages of ${quoted(origin)} may not call: name it in allowedOrigins` };
  };
}

/** True for an address that only this machine reaches. */
export function isLoopback(address: string): boolean {
  return loopback.has(address) || address === "::1";
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

function requireHost(host: string): string {
  const place = readHost(host);
  if (place === undefined) throw new TypeError(`allowedHosts: ${quoted(host)} is not a host, or a host and a port`);
  return place.whole;
}

function requireOrigin(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin === origin) return origin;
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
