import { encodeHeaderValue, mcpHeaders, namedBy } from "@parlance/mcp/protocol";
import type { FrameEntry } from "@parlance/wire";
import { createParser } from "eventsource-parser";
import { innermost } from "../../../shared/client/url-failure.js";
import { isObject, type JsonObject } from "../../../shared/json.js";
import { AwaitedAnswers, silent } from "./awaited-answers.js";
import { isUnaddressed, messagesOf } from "./channel-line.js";
import type { HttpWords, Line, Observer, Reply } from "./line.js";

interface HttpLineOptions {
  readonly url: string;
  /** Sent with everything: credentials, mostly. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds to wait for an answer. */
  readonly patience: number;
  readonly observer: Observer;
  /** The name of the session in the recording. */
  readonly session: string;
  /** Whether every request names its method and what it is about in headers. */
  readonly mirrors: boolean;
  readonly version: string | undefined;
  /** Nothing is waited for any more. */
  readonly stop?: AbortSignal | undefined;
}

/** A server behind a URL. */
export class HttpLine implements Line {
  readonly carrier = "http";
  onRequest: Line["onRequest"];
  readonly unaddressed: JsonObject[] = [];
  readonly #options: HttpLineOptions;
  /** End the exchanges that are under way. */
  readonly #underWay = new Set<() => void>();
  #isOver = false;
  #version: string | undefined;
  #sessionId: string | undefined;

  constructor(options: HttpLineOptions) {
    this.#options = options;
    this.#version = options.version;
    options.stop?.addEventListener("abort", () => this.#end(), { once: true });
    if (options.stop?.aborted === true) this.#end();
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  agree(version: string): void {
    this.#version = version;
  }

  async say(text: string, id?: string | number, words: HttpWords = {}): Promise<Reply> {
    const { url, observer, session: s, patience } = this.#options;
    const { method = "POST" } = words;
    const x = observer.nextExchange();
    const headers = this.#headersFor(text, words);
    observer.see((n, t) => ({ k: "h", n, t, s, x, ph: "req", method, url, headers: Object.entries(headers) }));
    if (method === "POST") this.#see(text, "c2s", "http", x);
    const { signal, isLate, done } = this.#patienceFor(patience);
    const body = method === "POST" ? { body: text } : {};
    try {
      const response = await fetch(url, { method, headers, signal, redirect: "manual", ...body });
      const { status } = response;
      observer.see((n, t) => ({ k: "h", n, t, s, x, ph: "res", status, headers: [...response.headers] }));
      this.#sessionId ??= response.headers.get(mcpHeaders.session) ?? undefined;
      const reply = await this.#read(response, x, id);
      observer.see((n, t) => ({ k: "h", n, t, s, x, ph: "end" }));
      return reply;
    } catch (error) {
      const lowest = innermost(error);
      const why = lowest instanceof Error ? lowest.message : String(lowest);
      observer.see((n, t) => ({ k: "h", n, t, s, x, ph: "abort", why }));
      return silent(isLate() ? "no answer in time" : "the server ended");
    } finally {
      done();
    }
  }

  /** A signal that ends one exchange. `AbortSignal.any` would not do: those of Node 20 may be collected unheard. */
  #patienceFor(milliseconds: number): { signal: AbortSignal; isLate: () => boolean; done: () => void } {
    const controller = new AbortController();
    let late = false;
    const abort = (): void => controller.abort();
    const timer = setTimeout(() => {
      late = true;
      abort();
    }, milliseconds);
    if (this.#isOver) abort();
    this.#underWay.add(abort);
    return {
      signal: controller.signal,
      isLate: () => late,
      done: () => {
        clearTimeout(timer);
        this.#underWay.delete(abort);
      },
    };
  }

  async close(): Promise<number | undefined> {
    const { stop } = this.#options;
    if (this.#sessionId !== undefined && stop?.aborted !== true) await this.say("", undefined, { method: "DELETE" });
    this.#end();
    return 0;
  }

  /** Ends the exchanges that are under way; another one ends at once. */
  #end(): void {
    this.#isOver = true;
    for (const abort of this.#underWay) abort();
  }

  #headersFor(text: string, { method = "POST", headers = {} }: HttpWords): Record<string, string> {
    const [message = {}] = method === "POST" ? messagesOf(text) : [];
    const all: Record<string, string | undefined> = {
      accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
      "content-type": method === "POST" ? "application/json" : undefined,
      [mcpHeaders.protocolVersion]: this.#version,
      [mcpHeaders.session]: this.#sessionId,
      ...(this.#options.mirrors ? mirrored(message) : {}),
      ...this.#options.headers,
      ...headers,
    };
    return Object.fromEntries(
      Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined && each[1] !== ""),
    );
  }

  /** Reads a body until what was asked for is there, and lets go of the rest. */
  async #read(response: Response, x: number, id: string | number | undefined): Promise<Reply> {
    const { status } = response;
    const awaited = new AwaitedAnswers(this.#options.patience);
    const answer = id === undefined ? undefined : awaited.wait(id);
    const before = this.unaddressed.length;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (isStream && id !== undefined) void this.#readEvents(response, x, awaited);
    else if (isStream) await response.body?.cancel();
    else this.#takeBody(await response.text(), x, awaited);
    const reply = (await answer) ?? silent("nothing was owed");
    // Over HTTP it is clear what such an error answers.
    return { ...reply, answer: reply.answer ?? this.unaddressed[before], status };
  }

  #takeBody(text: string, x: number, awaited: AwaitedAnswers): void {
    if (text !== "") this.#see(text, "s2c", "http", x);
    for (const message of messagesOf(text)) this.#take(message, awaited);
    awaited.end();
  }

  async #readEvents(response: Response, x: number, awaited: AwaitedAnswers): Promise<void> {
    const parser = createParser({
      onEvent: ({ data }) => {
        if (data === "") return;
        this.#see(data, "s2c", "sse", x);
        for (const message of messagesOf(data)) this.#take(message, awaited);
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
    } catch {
      // It was let go of, or it broke: either way there is no more.
    }
    awaited.end();
  }

  #take(message: JsonObject, awaited: AwaitedAnswers): void {
    if (isUnaddressed(message)) this.unaddressed.push(message);
    else if (typeof message.method !== "string") awaited.take(message);
    else if (message.id !== undefined) {
      const answer = this.onRequest?.(message);
      if (answer !== undefined) void this.say(answer); // What goes wrong with it, the server shows.
    }
  }

  #see(raw: string, d: FrameEntry["d"], ch: FrameEntry["ch"], req: number): void {
    const { observer, session: s } = this.#options;
    const len = Buffer.byteLength(raw);
    observer.see((n, t): FrameEntry => ({ k: "f", n, s, t, d, ch, len, nl: "", req, raw }));
  }
}

/** The headers that repeat what a message says. */
function mirrored({ method, params }: JsonObject): Record<string, string> {
  if (typeof method !== "string") return {};
  const member = namedBy.get(method);
  const name = member !== undefined && isObject(params) ? params[member] : undefined;
  return {
    [mcpHeaders.method]: method,
    ...(typeof name === "string" ? { [mcpHeaders.name]: encodeHeaderValue(name) } : {}),
  };
}
