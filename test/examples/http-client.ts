import { type Frame, initialize, initialized, modern, parse, request, stateless } from "../mcp/frames.js";

/** A client that says in plain HTTP what the revisions ask of it. */
export class HttpClient {
  /** Of the session, where the server keeps one. */
  sessionId: string | undefined;
  readonly #url: string;
  readonly #revision: string;
  #lastId = 0;

  private constructor(url: string, revision: string) {
    this.#url = url;
    this.#revision = revision;
  }

  /** Says who it is, where that comes first. */
  static async open(url: string, revision: string): Promise<HttpClient> {
    const client = new HttpClient(url, revision);
    if (revision === modern) return client;
    const opened = await client.#post(initialize(revision), {});
    client.sessionId = opened.headers.get("mcp-session-id") ?? undefined;
    await opened.text();
    const { status } = await client.#post(initialized, client.#sessionHeaders());
    if (status !== 202) throw new Error(`notifications/initialized was answered with ${status}`);
    return client;
  }

  /** Calls a method; its result. */
  async call(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Frame["result"]> {
    const response = await this.ask(method, params);
    const text = await response.text();
    const isStream = response.headers.get("content-type") === "text/event-stream";
    const frames = isStream ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data) : [text];
    const result = parse(frames.at(-1) ?? "").result;
    if (result === undefined) throw new Error(`${method} has no result, but ${response.status} ${text}`);
    return result;
  }

  /** Calls a method; its answer as it comes. */
  ask(method: string, params: Readonly<Record<string, unknown>> = {}, signal?: AbortSignal): Promise<Response> {
    this.#lastId += 1;
    if (this.#revision !== modern)
      return this.#post(request(this.#lastId, method, params), this.#sessionHeaders(), signal);
    const { name = params.uri } = params;
    const headers = { "mcp-protocol-version": modern, "mcp-method": method };
    const named = typeof name === "string" ? { ...headers, "mcp-name": name } : headers;
    return this.#post(stateless(this.#lastId, method, params), named, signal);
  }

  #sessionHeaders(): Record<string, string> {
    const version = { "mcp-protocol-version": this.#revision };
    return this.sessionId === undefined ? version : { ...version, "mcp-session-id": this.sessionId };
  }

  #post(body: string, headers: Record<string, string>, signal: AbortSignal | null = null): Promise<Response> {
    const types = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    return fetch(this.#url, { method: "POST", headers: { ...types, ...headers }, body, signal });
  }
}
