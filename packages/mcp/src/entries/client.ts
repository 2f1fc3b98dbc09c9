/**
 * Clients of MCP servers, in every revision.
 *
 * @module client
 */
import "../base/runtime.js";

import { checkMembers, type MembersOf } from "../base/check-members.js";
import { isObject, kindOf } from "../base/json.js";
import type { Client } from "../client/client.js";
import { type ClientOptions, clientMembers, openClient } from "../client/open-client.js";
import { type ChannelFactory, openOnChannel, type SessionOpener } from "../client/session/open-session.js";
import { type HttpClientOptions, httpClientMembers } from "../http/client/http-target.js";
import type { Channel } from "../jsonrpc/channel.js";
import type { ToolTypes } from "../schema/tool-types.js";
import { isOfficialServer, officialServerRemedy, requireServable, type Servable } from "../server/servable.js";
import { memoryChannels } from "../transport/memory.js";
import { webSocketChannel } from "../transport/websocket.js";

export type { Client } from "../client/client.js";
export { type InputHandlers, userRejected } from "../client/input/input-handlers.js";
export type { ClientOptions, NotificationHandlers } from "../client/open-client.js";
export type { ServerHint } from "../client/session/client-session.js";
export type { ServerChange, Subscription } from "../client/subscriptions/subscription.js";
export type { ClientCallOptions } from "../client/verbs/client-parts.js";
export { HttpError } from "../http/client/http-target.js";
export { LocalError, RpcError } from "../jsonrpc/errors.js";
export type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
export { type ContentBlock, type Resource, type ResourceContents, textOf } from "../protocol/types/content.js";
export type { ElicitFormParams, ElicitResult, ElicitUrlParams } from "../protocol/types/elicitation.js";
export type { Implementation } from "../protocol/types/implementation.js";
export type { LoggingLevel } from "../protocol/types/logging.js";
export type { GetPromptResult, Prompt, PromptMessage } from "../protocol/types/prompts.js";
export type { ReadResourceResult, ResourceTemplate } from "../protocol/types/resources.js";
export type { Root } from "../protocol/types/roots.js";
export type { CreateMessageParams, CreateMessageResult } from "../protocol/types/sampling.js";
export type { SubscriptionFilter } from "../protocol/types/subscriptions.js";
export type { TaskState } from "../protocol/types/tasks.js";
export type { CallToolResult, Tool } from "../protocol/types/tools.js";
export type { ToolTypes } from "../schema/tool-types.js";
export type { Servable } from "../server/servable.js";
export type { Middleware } from "../session/middleware.js";

/** The server of a client: a URL, a server object in this process, a channel, or a function that opens a channel. */
export type Target = string | URL | Servable | Channel | ChannelFactory;

/**
 * The tools with typed calls: those given as `connect<Tools>(url)`, those of `createServer({ tools })`, or untyped
 * ones.
 */
type ToolsOf<Tools extends ToolTypes, To> = [Tools] extends [never]
  ? To extends { readonly toolTypes?: infer Known extends ToolTypes }
    ? Known
    : ToolTypes
  : Tools;

/** Options of a client and, for a URL, of its HTTP requests. `reopen` is true by default for a URL. */
export interface ConnectOptions extends ClientOptions, HttpClientOptions {}

const connectMembers: MembersOf<ConnectOptions> = { ...clientMembers, ...httpClientMembers };

const responds = "write handlers: { elicitation, sampling, roots }";
const sendsToken = `write headers: { authorization: "Bearer …" }, or auth: oauth({ … }) to sign in`;
const identifies = "write info: { name, version }";

/** Options of other libraries, and what takes their place. */
const misplaced = {
  answers: responds,
  onElicitation: responds,
  onElicit: responds,
  onElicitRequest: responds,
  onSampling: responds,
  onRoots: responds,
  elicitation: responds,
  sampling: responds,
  roots: responds,
  token: sendsToken,
  bearer: sendsToken,
  bearerToken: sendsToken,
  apiKey: sendsToken,
  name: identifies,
  version: identifies,
  command: "connectStdio({ command, args }) of @parlance/mcp/node starts a command",
} as const;

/**
 * Connects to a server, using the newest revision that both sides support.
 *
 * @example
 * await using client = await connect("https://example.com/mcp");
 * for await (const tool of client.tools.list()) console.log(tool.name);
 * const result = await client.tools.call("add", { a: 2, b: 3 });
 *
 * @throws RangeError for an unknown revision; TypeError for an invalid target or HTTP or WebSocket URL; RpcError or
 * LocalError if the connection fails
 */
export async function connect<Tools extends ToolTypes = never, To extends Target = Target>(
  target: To,
  given: ConnectOptions = {},
): Promise<Client<ToolsOf<Tools, To>>> {
  checkMembers("connect", given, connectMembers, misplaced);
  const { auth, fetch, headers, ...options } = given;
  if (typeof target === "string" || target instanceof URL) {
    const url = urlOf(target);
    const isSocket = url.protocol === "ws:" || url.protocol === "wss:";
    if (isSocket) {
      requireNoRequests(given);
      return openClient((how) => openOnChannel(() => webSocketChannel(url), how), { reopen: true, ...options });
    }
    const requests = { ...(auth && { auth }), ...(fetch && { fetch }), ...(headers && { headers }) };
    const open: SessionOpener = async (how) => {
      const { openOverHttp } = await import("../http/client/open-over-http.js");
      return openOverHttp(url, requests, how);
    };
    return openClient(open, { reopen: true, ...options });
  }
  const dial = await dialOf(target, options.report);
  return openClient((how) => openOnChannel(dial, how), options);
}

/** @throws TypeError for options of HTTP requests: a WebSocket of the platform cannot send headers */
function requireNoRequests({ auth, fetch, headers }: ConnectOptions): void {
  const [name] = Object.entries({ auth, fetch, headers }).find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw new TypeError(
    `connect: ${name} does not work with a WebSocket URL, whose upgrade has no headers of ours; on Node, ` +
      "connect(() => nodeWebSocketChannel(url, { headers })) of @parlance/mcp/websocket sends some",
  );
}

const schemes: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:"]);

function urlOf(target: string | URL): URL {
  if (URL.canParse(target)) {
    const url = new URL(target);
    if (schemes.has(url.protocol)) return url;
    // `localhost:3000/mcp` parses: with the scheme `localhost:`.
    const remedy = /^[\w.-]+:\d/.test(url.href)
      ? `write http://${url.href}`
      : "it begins with http:, https:, ws: or wss:";
    throw new TypeError(`connect: ${JSON.stringify(url.href)} is not the URL of a server: ${remedy}`);
  }
  throw new TypeError(
    `connect: ${JSON.stringify(target)} is not a URL: write the whole URL, e.g. https://example.com/mcp; a command is ` +
      'connectStdio({ command: "node", args: ["server.js"] }) of @parlance/mcp/node',
  );
}

async function dialOf(
  target: Servable | Channel | ChannelFactory,
  report: ClientOptions["report"],
): Promise<ChannelFactory> {
  if (typeof target === "function") return target;
  requireTarget(target);
  return "run" in target ? inMemory(target, report) : () => target;
}

/** @throws TypeError for an invalid target, with the remedy */
function requireTarget(target: unknown): void {
  if (isObject(target) && typeof target.open === "function" && typeof target.send === "function") return;
  if (isObject(target) && typeof target.run === "function") {
    requireServable("connect", target);
    return;
  }
  if (isOfficialServer(target))
    throw new TypeError(`connect was given a server of the official SDK: ${officialServerRemedy}`);
  const remedy =
    isObject(target) && "command" in target
      ? "connectStdio of @parlance/mcp/node starts commands"
      : "give it a URL, what createServer() returns, a channel, or a function that makes one";
  throw new TypeError(`connect cannot reach ${isObject(target) ? "such an object" : kindOf(target)}: ${remedy}`);
}

/**
 * Returns a function that serves `served` in memory and returns the client's channel. The bytes are the same as on other
 * transports. Both sides report to the same place, so that a test sees faults of the handlers it calls.
 */
async function inMemory(served: Servable, report: ClientOptions["report"]): Promise<ChannelFactory> {
  const { serveChannel } = await import("../server/session/serve-channel.js");
  return () => {
    const [near, far] = memoryChannels();
    serveChannel(served, far, report === undefined ? {} : { report });
    return near;
  };
}
