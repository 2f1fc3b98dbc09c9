import { encodeHeaderValue, namedBy } from "@parlance/mcp/protocol";
import type { Entry, FrameEntry } from "@parlance/wire";
import type { HttpEntry } from "../../../packages/wire/src/recording/entry.js";
import type { Said } from "../recording/recorded.js";
import type { Talk } from "./talk.js";

type Headers = Readonly<Record<string, string | undefined>>;

/** A reply with what a line of a transcript has no word for. */
type Reply = Pick<FrameEntry, "ev" | "raw" | "cut">;

/** One request of HTTP and its response. */
export interface HttpExchange {
  readonly method?: string;
  /** Default: that of the MCP endpoint. */
  readonly url?: string;
  /** Besides those that every client sends; undefined leaves one out. */
  readonly headers?: Headers;
  /** The body of the POST, as a line of a transcript. */
  readonly sent?: Said;
  readonly status?: number;
  readonly replyHeaders?: Headers;
  /** The messages of the response; several, or `events`, make a stream of them. */
  readonly replies?: readonly (Said | Reply)[];
  readonly isStream?: boolean;
  /** Why the exchange is broken off. Default: it comes to its end. */
  readonly aborted?: string;
}

/** Exchanges one after the other, as a proxy records them. */
export function exchanged(...exchanges: readonly HttpExchange[]): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [index, exchange] of exchanges.entries()) addExchange(entries, index + 1, exchange);
  return entries;
}

/** Exchanges at the same time: all requests, and then all responses. */
export function overlapping(...exchanges: readonly HttpExchange[]): readonly Entry[] {
  const isRequest = (entry: Entry): boolean =>
    (entry.k === "h" && entry.ph === "req") || (entry.k === "f" && entry.d === "c2s");
  const entries = exchanged(...exchanges);
  return numbered([...entries.filter(isRequest), ...entries.filter((entry) => !isRequest(entry))]);
}

/** Recordings of exchanges as one: with numbers and times of their own, and a number for each exchange. */
export function numbered(entries: readonly Entry[]): readonly Entry[] {
  let exchanges = 0;
  const known = new Map<number, number>();
  return entries.map((entry, index) => {
    if (entry.k !== "h" && entry.k !== "f") return entry;
    const place = { n: index + 1, t: index + 1 };
    const own = (entry.k === "h" ? entry.x : entry.req) ?? 0;
    if (entry.k === "h" && entry.ph === "req") {
      exchanges += 1;
      known.set(own, exchanges);
    }
    const x = known.get(own) ?? own;
    return entry.k === "h" ? { ...entry, ...place, x } : { ...entry, ...place, req: x };
  });
}

function addExchange(entries: Entry[], x: number, exchange: HttpExchange): void {
  const { method = "POST", headers = {}, sent, status = 200, replyHeaders = {}, replies = [] } = exchange;
  const { isStream = false, url = "/mcp", aborted } = exchange;
  const place = (): { n: number; t: number; s: string } => ({ n: entries.length + 1, t: entries.length + 1, s: "1" });
  const head = (ph: HttpEntry["ph"], more: Partial<HttpEntry>): void => {
    entries.push({ k: "h", ...place(), x, ph, ...more });
  };
  const frame = (d: FrameEntry["d"], ch: FrameEntry["ch"], raw: string, { ev, cut }: Omit<Reply, "raw"> = {}): void => {
    const len = Buffer.byteLength(raw);
    entries.push({ k: "f", ...place(), d, ch, len, nl: "", req: x, raw, ...(ev && { ev }), ...(cut && { cut }) });
  };
  const usual = {
    host: "127.0.0.1:3000",
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  head("req", { method, url, headers: listed({ ...usual, ...headers }) });
  if (sent !== undefined) frame("c2s", "http", sent.slice(2));
  const type = isStream ? "text/event-stream" : "application/json";
  head("res", {
    status,
    headers: listed(isStream || replies.length > 0 ? { "content-type": type, ...replyHeaders } : replyHeaders),
  });
  for (const reply of replies) {
    const ch = isStream ? "sse" : "http";
    if (typeof reply === "string") frame("s2c", ch, reply.slice(2));
    else frame("s2c", ch, reply.raw ?? "", reply);
  }
  if (aborted === undefined) head("end", {});
  else head("abort", { why: aborted });
}

function listed(headers: Headers): readonly (readonly [string, string])[] {
  return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** The headers that a request has in a revision, once the conversation is open. */
export function headersOf(talk: Talk, sent?: Said): Headers {
  if (!talk.isStateless) return talk.version >= "2025-06-18" ? { "mcp-protocol-version": talk.version } : {};
  const { method, params = {} } = JSON.parse(sent?.slice(2) ?? "{}") as {
    readonly method?: string;
    readonly params?: Readonly<Record<string, unknown>>;
  };
  const name = params[namedBy.get(method ?? "") ?? ""];
  const named = typeof name === "string" ? { "mcp-name": encodeHeaderValue(name) } : {};
  return { "mcp-protocol-version": talk.version, "mcp-method": method, ...named };
}

/** The exchanges that open a conversation over HTTP. */
export function openingExchanges(
  talk: Talk,
  replyHeaders: Headers = {},
  capabilities: Parameters<Talk["opening"]>[0] = {},
): readonly HttpExchange[] {
  const [first = "→ ", answer = "← ", initialized] = talk.opening(capabilities);
  if (initialized === undefined) return [{ headers: headersOf(talk, first), sent: first, replies: [answer] }];
  const session = replyHeaders["mcp-session-id"];
  const named = session === undefined ? {} : { "mcp-session-id": session };
  return [
    { sent: first, replies: [answer], replyHeaders },
    { headers: { ...headersOf(talk), ...named }, sent: initialized, status: 202 },
  ];
}

/** A list of tools over HTTP. */
export function listExchange(talk: Talk, id: unknown, change: HttpExchange = {}): HttpExchange {
  const sent = talk.list(id);
  const headers = { ...headersOf(talk, sent), ...change.headers };
  return { sent, replies: [talk.listed(id)], ...change, headers };
}
