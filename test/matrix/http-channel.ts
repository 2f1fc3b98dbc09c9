import type { Channel, ChannelReceiver } from "@parlance/mcp/jsonrpc";
import type { HttpTarget } from "./driver.js";

interface Frame {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly uri?: string;
    readonly requestId?: string | number;
    readonly _meta?: { readonly "io.modelcontextprotocol/protocolVersion"?: string };
  };
  readonly result?: { readonly protocolVersion?: string };
}

const accept = "application/json, text/event-stream";

/** Frames as POSTs and what answers them, written by hand: a client that knows only what is on the wire. */
export class RawHttpChannel implements Channel {
  readonly #url: string;
  readonly #fetch: HttpTarget["fetch"];
  readonly #abort = new AbortController();
  readonly #posts = new Map<string | number, AbortController>();
  #receiver: ChannelReceiver | undefined;
  /** Sent messages that were not accepted yet: one message must not overtake another. */
  #last: Promise<unknown> = Promise.resolve();
  #session: string | undefined;
  #version: string | undefined;

  constructor(url: string, fetch: HttpTarget["fetch"]) {
    this.#url = url;
    this.#fetch = fetch;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  send(text: string): void {
    const parsed = JSON.parse(text) as Frame | readonly Frame[];
    const frame = (Array.isArray(parsed) ? {} : parsed) as Frame;
    const { method, params } = frame;
    if (method === "notifications/cancelled" && this.#session === undefined) {
      this.#posts.get(params?.requestId ?? "")?.abort(); // Where nothing is remembered, hanging up is how a call is taken back.
      return;
    }
    this.#last = this.#last.then(() => this.#post(text, frame)).catch((error: unknown) => this.#failed(error));
  }

  async close(): Promise<void> {
    await this.#last;
    if (this.#session !== undefined) {
      await this.#fetch(this.#url, { method: "DELETE", headers: this.#headers() });
    }
    this.#abort.abort();
    this.#receiver?.end();
  }

  /** Resolves when the server has taken the message: with its answer's head, or, where that waits, a little later. */
  async #post(text: string, frame: Frame): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#abort.signal]);
    if (frame.id !== undefined && frame.method !== undefined) this.#posts.set(frame.id, stop);
    const headers = { ...this.#headers(), ...standardHeaders(frame), "content-type": "application/json", accept };
    const answering = this.#fetch(this.#url, { method: "POST", headers, body: text, signal });
    const taken = answering.then((answer) => this.#answered(answer, frame));
    const isAnswered = taken.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    // A request is not waited for, for its answer may need what is sent next.
    if (frame.method === undefined || frame.id === undefined || frame.method === "initialize") await isAnswered;
    else void isAnswered.catch((error: unknown) => this.#failed(error));
  }

  async #answered(answer: Response, frame: Frame): Promise<void> {
    this.#session ??= answer.headers.get("mcp-session-id") ?? undefined;
    const reading = this.#read(answer);
    if (frame.method === "initialize") await reading;
    if (frame.method === "notifications/initialized" && this.#session !== undefined) await this.#listen();
    void reading.catch((error: unknown) => this.#failed(error));
  }

  async #listen(): Promise<void> {
    const headers = { ...this.#headers(), accept: "text/event-stream" };
    const answer = await this.#fetch(this.#url, { headers, signal: this.#abort.signal });
    void this.#read(answer).catch((error: unknown) => this.#failed(error));
  }

  async #read(answer: Response): Promise<void> {
    if (answer.headers.get("content-type") !== "text/event-stream") {
      const text = await answer.text();
      if (text !== "") this.#deliver(text);
      return;
    }
    for await (const { data } of eventsOf(answer)) if (data !== "") this.#deliver(data);
  }

  #deliver(text: string): void {
    const { result } = JSON.parse(text) as Frame;
    this.#version ??= result?.protocolVersion;
    this.#receiver?.frame(text);
  }

  #headers(): Readonly<Record<string, string>> {
    return {
      ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
      ...(this.#version === undefined ? {} : { "mcp-protocol-version": this.#version }),
    };
  }

  #failed(error: unknown): void {
    if (this.#abort.signal.aborted) return;
    const isStopped = error instanceof Error && error.name === "AbortError";
    if (!isStopped) this.#receiver?.end(error instanceof Error ? error : new Error(String(error)));
  }
}

/** HTTP+SSE by hand: what the server says is one stream, whose first event says where to post. */
export class RawLegacyChannel implements Channel {
  readonly #url: string;
  readonly #fetch: HttpTarget["fetch"];
  readonly #abort = new AbortController();
  #receiver: ChannelReceiver | undefined;
  #last: Promise<string>;
  #settle: (endpoint: string) => void = () => undefined;

  constructor(url: string, fetch: HttpTarget["fetch"]) {
    this.#url = url;
    this.#fetch = fetch;
    this.#last = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    void this.#read().catch(() => undefined); // The stream ends when this side goes.
  }

  send(text: string): void {
    this.#last = this.#last.then(async (endpoint) => {
      const headers = { "content-type": "application/json" };
      const answer = await this.#fetch(endpoint, { method: "POST", headers, body: text });
      const refusal = await answer.text();
      if (refusal !== "") this.#receiver?.frame(refusal);
      return endpoint;
    });
  }

  async close(): Promise<void> {
    await this.#last;
    this.#abort.abort();
    this.#receiver?.end();
  }

  async #read(): Promise<void> {
    const headers = { accept: "text/event-stream" };
    const answer = await this.#fetch(this.#url, { headers, signal: this.#abort.signal });
    for await (const { event, data } of eventsOf(answer)) {
      if (event === "endpoint") this.#settle(new URL(data, this.#url).href);
      else if (event === "message") this.#receiver?.frame(data);
    }
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<{ readonly event: string; readonly data: string }> {
  let rest = "";
  const utf8 = new TextDecoder();
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    const events = (rest + utf8.decode(chunk, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) yield { event: field(event, "event: "), data: field(event, "data: ") };
  }
}

function field(event: string, name: string): string {
  const lines = event.split("\n").flatMap((line) => (line.startsWith(name) ? [line.slice(name.length)] : []));
  return lines.join("\n");
}

function standardHeaders({ method, params }: Frame): Readonly<Record<string, string>> {
  const version = params?._meta?.["io.modelcontextprotocol/protocolVersion"];
  if (method === undefined || version === undefined) return {};
  const name = method === "resources/read" ? params?.uri : params?.name;
  const isNamed = ["tools/call", "prompts/get", "resources/read"].includes(method) && name !== undefined;
  const encoded = isNamed ? { "mcp-name": `=?base64?${Buffer.from(name).toString("base64")}?=` } : {};
  return { "mcp-protocol-version": version, "mcp-method": method, ...encoded };
}
