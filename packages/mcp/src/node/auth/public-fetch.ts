import { lookup as systemLookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { addressKind, hostKind } from "../../auth/addresses.js";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { LocalError } from "../../jsonrpc/errors.js";

/** Options of `publicFetch`. */
export interface PublicFetchOptions {
  /**
   * Host names that may also be at private addresses and on this machine, such as that of the server that a user named. Default: none.
   */
  readonly privateHosts?: readonly string[];
  /** Resolves a name to its IP addresses. Default: as the operating system does. */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>;
}

const members: MembersOf<PublicFetchOptions> = {
  privateHosts: ["strings", "allowedHosts", "allow", "hosts"],
  lookup: ["function", "resolve", "dns"],
};

/**
 * A `fetch` for URLs that others name, such as a server its authorization server. It reaches only public addresses over HTTPS: neither this
 * machine, nor the local network, nor the metadata service of a cloud provider. The connection goes to the addresses that were checked, so
 * the name cannot resolve to others in between. Redirects are not followed, proxies not used.
 *
 * Over HTTP, it reaches only this machine, by a host name in `privateHosts`. Link-local and other reserved addresses are always refused.
 *
 * @example
 * const auth = oauth({ fetch: publicFetch() });
 *
 * @throws Error on runtimes other than Node, which may resolve names again
 */
export function publicFetch(options: PublicFetchOptions = {}): (url: URL, init: RequestInit) => Promise<Response> {
  checkMembers("publicFetch", options, members);
  if ("bun" in process.versions || "deno" in process.versions)
    throw new Error("publicFetch needs Node: other runtimes may connect to addresses that were not checked");
  const { privateHosts = [], lookup = everyAddress } = options;
  const isPrivateHost = ({ hostname }: URL): boolean => privateHosts.includes(hostname);
  return async (url, init) => {
    const literal = hostKind(url.hostname);
    // Sockets do not look up an address, and "localhost" may not be left to a name server.
    if (literal !== undefined) requireKind(url, literal, url.hostname, isPrivateHost(url));
    if (url.protocol !== "https:" && !isPrivateHost(url)) throw refused(url, "it is not HTTPS");
    // The resolution of the connection itself: what is checked is what it connects to.
    const checked: LookupFunction = (hostname, { all }, done) => {
      const addresses = lookup(hostname).then((found) => {
        if (found.length === 0) throw refused(url, "it has no address");
        for (const each of found) requireKind(url, addressKind(each), each, isPrivateHost(url));
        return found.map((address) => ({ address, family: isIP(address) }));
      });
      addresses.then(
        (each) => (all === true ? done(null, each) : done(null, each[0]?.address ?? "", each[0]?.family)),
        (error: NodeJS.ErrnoException) => done(error, ""),
      );
    };
    return send(url, init, checked);
  };
}

async function everyAddress(hostname: string): Promise<readonly string[]> {
  const found = await systemLookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

/** @throws LocalError for an address that may not be reached */
function requireKind(url: URL, kind: string, address: string, isPrivateHost: boolean): void {
  if (kind === "reserved" || (kind !== "public" && !isPrivateHost))
    throw refused(url, `${address} is a ${kind} address`);
  if (url.protocol !== "https:" && kind !== "loopback") throw refused(url, "it is not HTTPS");
}

function refused({ origin }: URL, why: string): LocalError {
  return new LocalError("refused", `${origin} was not requested: ${why}`);
}

async function send(url: URL, init: RequestInit, lookup: LookupFunction): Promise<Response> {
  // Headers and bodies in all their forms. The signal stays outside: this one would follow it by a reference that may be collected.
  const { method, headers, body } = new Request(url, { ...init, signal: null });
  const content = body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer());
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = url.protocol === "https:" ? httpsRequest : httpRequest;
    request(url, {
      method,
      headers: Object.fromEntries(headers),
      lookup,
      // No connection is kept: it would be used for a name without another check.
      agent: false,
      ...(init.signal ? { signal: init.signal } : {}),
    })
      .on("response", resolve)
      .on("error", reject)
      .end(content);
  });
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = message;
  const received = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) received.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const mayHaveBody = method !== "HEAD" && status !== 204 && status !== 205 && status !== 304;
  if (!mayHaveBody) message.resume();
  // The stream is the same at run time; the types of Node and of the web are declared apart.
  const stream = mayHaveBody ? (Readable.toWeb(message) as ReadableStream<Uint8Array<ArrayBuffer>>) : null;
  return new Response(stream, { status, statusText, headers: received });
}
