import type { IncomingMessage } from "node:http";

/** Headers in their original order and case. */
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

/** Node's flat list of names and values, which keeps order and case. */
export function flattened(headers: HeaderList): string[] {
  return headers.flat();
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
  // Content-Length is kept even where Connection names it.
  dropped.delete("content-length");
  dropped.delete("transfer-encoding");
  return headers.filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** The headers with a new Content-Length. */
export function withLength(headers: HeaderList, length: number): HeaderList {
  const others = headers.filter(([name]) => !/^(content-length|transfer-encoding)$/i.test(name));
  return [...others, ["Content-Length", String(length)]];
}
