import type { IncomingMessage } from "node:http";
import type { ByteBudget } from "../../base/byte-budget.js";
import type { ConnectionEnds } from "../../http/server/origin-check.js";
import { BodyFault, BodyReader, type HttpRequest, notUtf8, tooLong } from "../../http/server/request.js";
import { decodeUtf8 } from "../../transport/framing/utf8.js";

/**
 * Headers of which Node returns only the first value. All values are checked: a proxy may have checked the first, and a
 * later program may use another.
 */
const singles: ReadonlySet<string> = new Set(["authorization", "content-type", "host"]);

/** A `node:http` request as `HttpRequest`, without its response. */
export class NodeRequest implements Omit<HttpRequest, "onGone"> {
  readonly method: string;
  readonly url: string;
  readonly address: string | undefined;
  readonly ends: ConnectionEnds;
  protected readonly incoming: IncomingMessage;

  constructor(request: IncomingMessage) {
    const { socket } = request;
    const { localAddress: local, remoteAddress } = socket;
    // A closed connection has no addresses, like a Unix socket; it must not be mistaken for one.
    const remote = remoteAddress ?? (socket.destroyed ? "gone" : undefined);
    this.incoming = request;
    this.method = request.method ?? "GET";
    // Routers remove the matched prefix from `url`, and keep the full URL in `originalUrl`.
    this.url = (request as { readonly originalUrl?: string }).originalUrl ?? request.url ?? "/";
    this.address = remoteAddress;
    this.ends = { local, remote };
  }

  header(name: string): string | undefined {
    const { headers, rawHeaders } = this.incoming;
    const value = headers[name];
    if (value === undefined || !singles.has(name)) return typeof value === "object" ? value.join(", ") : value;
    let values: string | undefined;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const other = rawHeaders[at] as string;
      if (other.length !== name.length || other.toLowerCase() !== name) continue;
      const each = rawHeaders[at + 1] as string;
      values = values === undefined ? each : `${values}, ${each}`;
    }
    return values ?? "";
  }

  text(maxBytes: number, budget: ByteBudget): Promise<string> | string {
    const request = this.incoming;
    // If a body parser ran before, the stream is already consumed.
    const parsed = (request as { readonly body?: unknown }).body;
    if (parsed !== undefined && parsed !== null) return textOf(parsed, maxBytes);
    const body = new BodyReader(request.headers["content-length"], maxBytes, budget);
    return new Promise((resolve, reject) => {
      // Every request closes, and creating an error costs more than reading most bodies.
      const fail = (): void => {
        body.close();
        if (!request.readableEnded) reject(new BodyFault(400, "the body ended early"));
      };
      if (request.destroyed) return fail();
      request.on("data", (chunk: Uint8Array) => {
        try {
          body.append(chunk);
        } catch (error) {
          request.removeAllListeners("data").pause();
          body.close();
          reject(error);
        }
      });
      request.on("end", () => {
        try {
          resolve(body.finish());
        } catch (error) {
          reject(error);
        }
      });
      request.on("error", fail).on("close", fail);
    });
  }
}

/** The text of a body that a body parser has read. */
function textOf(parsed: unknown, maxBytes: number): string {
  if (typeof parsed === "string") return parsed;
  if (!(parsed instanceof Uint8Array)) return JSON.stringify(parsed);
  if (parsed.length > maxBytes) throw tooLong(maxBytes);
  const text = decodeUtf8(parsed);
  if (text === undefined) throw notUtf8();
  return text;
}
