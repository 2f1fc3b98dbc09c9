import { modern, stateless } from "../../testing/frames.js";

/** Headers by their names in lower case; undefined leaves out one that would be there. */
export type AskedHeaders = Readonly<Record<string, string | undefined>>;

/** A request as data, to be written by hand or as a `Request`. */
export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: AskedHeaders;
  readonly body?: string | Uint8Array;
}

/** The default headers of a POST. */
const postHeaders: AskedHeaders = {
  host: "localhost",
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

/** A POST of the stateless era: the headers say what the body says. `headers` changes them. */
export function statelessPost(
  method: string,
  params: object = {},
  headers: AskedHeaders = {},
  { id = 1, meta = {} }: { readonly id?: string | number; readonly meta?: object } = {},
): Asked {
  const { name, uri } = params as { readonly name?: string; readonly uri?: string };
  return {
    headers: { "mcp-protocol-version": modern, "mcp-method": method, "mcp-name": name ?? uri, ...headers },
    body: stateless(id, method, params, meta),
  };
}

/** A call of a tool in the stateless era. */
export function statelessCall(name: string, args: object = {}, headers: AskedHeaders = {}): Asked {
  return statelessPost("tools/call", { name, arguments: args }, headers);
}

/** A POST in a session. */
export function sessionPost(session: string, body: string, headers: AskedHeaders = {}): Asked {
  return { headers: { "mcp-session-id": session, ...headers }, body };
}

/** The stream of a session. */
export function sessionGet(session: string, headers: AskedHeaders = {}): Asked {
  return { method: "GET", headers: { accept: "text/event-stream", "mcp-session-id": session, ...headers } };
}

/** The headers that are there. */
export function headersOf({ method = "POST", headers = {} }: Asked): readonly (readonly [string, string])[] {
  const all = method === "POST" ? { ...postHeaders, ...headers } : { host: "localhost", ...headers };
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** As it stands on the wire. */
export function written(asked: Asked): Uint8Array {
  const { method = "POST", path = "/mcp", body = "" } = asked;
  const bytes = Buffer.from(body as string);
  const lines = headersOf(asked).map(([name, value]) => `${name}: ${value}`);
  const isFramed = lines.some((line) => /^(?:content-length|transfer-encoding):/.test(line));
  if (!isFramed && (bytes.length > 0 || method === "POST")) lines.push(`content-length: ${bytes.length}`);
  return Buffer.concat([
    Buffer.from(`${[`${method} ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`, "latin1"),
    bytes,
  ]);
}
