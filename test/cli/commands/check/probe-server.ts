import { randomUUID } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { versions } from "@parlance/mcp";
import { metaKeys, type Revision } from "@parlance/mcp/protocol";

export type Fields = Readonly<Record<string, unknown>>;

/** The quirk of a server: its response, or undefined for the correct one. */
export interface Quirk {
  /** Its responses to a frame; none is silence. */
  readonly frame?: (text: string, message: Fields, server: RawServer) => readonly unknown[] | undefined;
  /** How it answers a request of HTTP, before it looks at what is in it. */
  readonly http?: (request: IncomingMessage, body: string) => HttpAnswer | undefined;
}

type HttpAnswer = readonly [status: number, body?: object | undefined, headers?: OutgoingHttpHeaders];

/** A server of one revision that is written without the library, which would not let it have quirks. */
export class RawServer {
  readonly revision: Revision;
  readonly #quirk: Quirk;
  /** How often it was asked for each method. */
  readonly asked = new Map<string, number>();
  /** It answers nothing any more. */
  isStuck = false;

  constructor(revision: Revision, quirk: Quirk = {}) {
    this.revision = revision;
    this.#quirk = quirk;
  }

  /** Its responses to a frame. */
  answer(frame: string): readonly unknown[] {
    if (this.isStuck) return [];
    const value = parsed(frame);
    const message = isFields(value) ? value : {};
    const method = String(message.method);
    this.asked.set(method, (this.asked.get(method) ?? 0) + 1);
    return this.#quirk.frame?.(frame, message, this) ?? this.#soundly(value);
  }

  /** The same over HTTP. */
  get listener(): RequestListener {
    const sessions = new Set<string>();
    return async (request, response) => {
      const body = await text(request);
      const quirk = this.#quirk.http?.(request, body);
      if (quirk !== undefined) reply(response, ...quirk);
      else this.#respond(request, response, body, sessions);
    };
  }

  #respond(request: IncomingMessage, response: ServerResponse, body: string, sessions: Set<string>): void {
    const value = parsed(body);
    const message = isFields(value) ? value : {};
    const refusal = this.#refusalOf(request, message, sessions);
    if (refusal !== undefined) {
      reply(response, ...refusal);
      return;
    }
    if (message.method === "initialize") {
      const opened = randomUUID();
      sessions.add(opened);
      response.setHeader("mcp-session-id", opened);
    }
    const [answer] = this.answer(body);
    if (answer !== undefined)
      reply(response, isFields(answer) && answer.id === null ? 400 : 200, answer as object); // An answer is one.
    // A request that stays without an answer keeps its response open.
    else if (message.id === undefined) reply(response, 202);
  }

  /** How it answers what HTTP has it refuse, and a DELETE. */
  #refusalOf(
    { method, headers }: IncomingMessage,
    message: Fields,
    sessions: Set<string>,
  ): readonly [status: number, body?: object] | undefined {
    const { origin, accept = "", "content-type": type, "mcp-session-id": session, "mcp-method": named } = headers;
    const { "mcp-protocol-version": version } = headers;
    if (origin !== undefined) return [403];
    const isStateless = this.revision.era === "stateless";
    if (method === "GET" || (isStateless && method === "DELETE")) return [405];
    if (method === "DELETE") return [sessions.delete(String(session)) ? 200 : 404];
    if (type !== "application/json") return [415];
    if (!accept.includes("text/event-stream")) return [406];
    if (isStateless)
      return named === undefined || message.method === undefined || named === message.method
        ? undefined
        : [400, failure(message.id, -32_020)];
    if (message.method !== "initialize" && !sessions.has(String(session))) return [404];
    return version === undefined || versions.includes(String(version)) ? undefined : [400];
  }

  #soundly(value: unknown): readonly unknown[] {
    if (value === undefined) return [failure(null, -32_700)];
    if (Array.isArray(value) && this.revision.facts.batches)
      return [value.flatMap((each: unknown) => this.#soundly(each))];
    if (!isFields(value) || typeof value.method !== "string") return [failure(null, -32_600)];
    const { id, method, params = {} } = value;
    if (id === undefined) return [];
    if (value.jsonrpc !== "2.0") return [failure(id, -32_600)];
    if (!isFields(params)) return [failure(id, -32_602)];
    const meta = fieldsOf(params._meta);
    if (this.revision.era === "stateless") {
      if (meta[metaKeys.protocolVersion] === undefined) return [failure(id, -32_602)];
      const { version } = this.revision;
      const requested = meta[metaKeys.protocolVersion];
      if (requested !== version) return [failure(id, -32_022, { supported: [version], requested })];
    }
    const result = this.#result(method, params);
    return [typeof result === "number" ? failure(id, result) : { jsonrpc: "2.0", id, result }];
  }

  /** The result of a method, or the code of its error. */
  #result(method: string, params: Fields): Fields | number {
    const { revision } = this;
    const serverInfo = { name: "raw", version: "1" };
    const capabilities = { tools: {}, resources: {}, prompts: {}, logging: {} };
    const isStateless = revision.era === "stateless";
    switch (method) {
      case "initialize":
        return isStateless ? -32_601 : { protocolVersion: params.protocolVersion, capabilities, serverInfo };
      case "server/discover":
        return isStateless
          ? { supportedVersions: [revision.version], capabilities, _meta: { [metaKeys.serverInfo]: serverInfo } }
          : -32_601;
      case "ping":
        return isStateless ? -32_601 : {};
      case "logging/setLevel":
        return params.level === "chatty" ? -32_602 : {};
      case "tools/call":
        return called(params);
      case "resources/read":
        return params.uri === resource.uri
          ? { contents: [{ uri: resource.uri, text: "" }] }
          : revision.codes.resourceNotFound;
      case "prompts/get":
        return params.name === prompt.name && fieldsOf(params.arguments).x !== undefined ? { messages: [] } : -32_602;
      default:
        return pageOf(method, params.cursor);
    }
  }
}

const add = { name: "add", inputSchema: { type: "object", required: ["a"] } };
const now = { name: "now", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
const resource = { uri: "a:b", name: "b" };
const prompt = { name: "p", arguments: [{ name: "x", required: true }] };
const lists: ReadonlyMap<string, readonly [member: string, items: readonly Fields[]]> = new Map([
  ["tools/list", ["tools", [add, now]]],
  ["resources/list", ["resources", [resource]]],
  ["resources/templates/list", ["resourceTemplates", []]],
  ["prompts/list", ["prompts", [prompt]]],
] as const);

/** All that there is, and an empty page after it. */
function pageOf(method: string, cursor: unknown): Fields | number {
  const [member, items] = lists.get(method) ?? [];
  if (member === undefined) return -32_601;
  if (cursor === undefined) return { [member]: items, nextCursor: "2" };
  return cursor === "2" ? { [member]: [] } : -32_602;
}

function called({ name, arguments: given }: Fields): Fields | number {
  if (name !== "add" && name !== "now") return -32_602;
  return { content: [], ...(name === "add" && fieldsOf(given).a === undefined && { isError: true }) };
}

/** An error. */
export function failure(id: unknown, code: number, data?: object): Fields {
  return { jsonrpc: "2.0", id, error: { code, message: "m", ...(data !== undefined && { data }) } };
}

function reply(response: ServerResponse, status: number, body?: object, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { ...(body !== undefined && { "content-type": "application/json" }), ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

function parsed(frame: string): unknown {
  try {
    return JSON.parse(frame) as unknown;
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
