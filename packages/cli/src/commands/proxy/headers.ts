import type { IncomingMessage } from "node:http";

/** Names and values of headers in the order and the case in which they came. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** The headers of a message as they came. */
export function headersOf({ rawHeaders }: IncomingMessage): HeaderList {
  return pairsOf(rawHeaders);
}

/** Pairs of a list in which names and values take turns. */
export function pairsOf(list: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < list.length; at += 2) pairs.push([list[at] ?? "", list[at + 1] ?? ""]);
  return pairs;
}

/** A list in which names and values take turns: how Node writes headers in an order and case that it is given. */
export function flattened(headers: HeaderList): string[] {
  return headers.flat();
}

/** The first value of a header. */
export function headerValue(headers: HeaderList, name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1];
}

/** What belongs to one connection and not to the message (RFC 9110 §7.6.1). */
const ofTheConnection: ReadonlySet<string> = new Set(["connection", "keep-alive", "proxy-connection", "te", "upgrade"]);

/** The headers that are passed on to the other connection. */
export function endToEnd(headers: HeaderList): HeaderList {
  const named = headers
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.split(","));
  const dropped = new Set([...ofTheConnection, ...named.map((name) => name.trim().toLowerCase())]);
  // How long the body is must stay with it, whatever a header says.
  dropped.delete("content-length");
  dropped.delete("transfer-encoding");
  return headers.filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** The headers of a body whose length has changed. */
export function withLength(headers: HeaderList, length: number): HeaderList {
  const others = headers.filter(([name]) => !/^(content-length|transfer-encoding)$/i.test(name));
  return [...others, ["Content-Length", String(length)]];
}
