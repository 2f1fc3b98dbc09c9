import type { MembersOf } from "../base/check-members.js";
import { systemClock } from "../base/clock.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import { defaultTimeouts } from "../jsonrpc/calls/outgoing-call.js";
import { guarded, reporterOf } from "../jsonrpc/hooks.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { NotificationListener } from "../jsonrpc/routing.js";
import { type ClientCapabilities, readCapabilities } from "../protocol/capabilities.js";
import { implementationMembers } from "../protocol/member-tables.js";
import { notifications } from "../protocol/methods.js";
import { knownRevision } from "../protocol/revisions/all.js";
import type { Implementation } from "../protocol/types/implementation.js";
import type { ToolTypes } from "../schema/tool-types.js";
import { advertisedCall } from "./advertised.js";
import { type CacheOptions, cacheMembers, ResponseCache } from "./cache.js";
import { Client } from "./client.js";
import { inputCall } from "./input/input-call.js";
import { type InputHandlers, inputHandlerMembers, inputResponderOf } from "./input/input-handlers.js";
import type { InputResponder } from "./input/input-responder.js";
import { NotificationEmitter } from "./input/notification-emitter.js";
import { type NotificationHandlers, notificationMembers } from "./method-types.js";
import { type OpenOptions, openMembers, randomOf, type SessionOpener } from "./session/open-session.js";
import { ReconnectingSession, type Reopen } from "./session/reconnecting-session.js";
import { followByEra } from "./subscriptions/follow-by-era.js";
import { subscribeWith } from "./subscriptions/subscription.js";
import { ListedTools } from "./verbs/listed-tools.js";

/** Options of a client. */
export interface ClientOptions extends Omit<OpenOptions, "identity" | "revision"> {
  /** `clientInfo` of the client. Default: the name and version of this library. */
  readonly info?: Implementation;
  /** The protocol revision to require, e.g. one of `versions`. Default: the newest that both sides support. */
  readonly revision?: string;
  /** Handlers for input requests of the server. Default: none, and no capability is declared. */
  readonly handlers?: InputHandlers;
  /**
   * Client capabilities to declare in addition to those of `handlers`: extensions, `experimental`. They are merged; a value here
   * that is not an object takes precedence. A request for a capability that is declared here and has no handler fails. Default:
   * none.
   *
   * @example
   * await connect(url, { capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } } });
   */
  readonly capabilities?: ClientCapabilities;
  /**
   * Typed notification handlers by method; otherwise like `onNotification`.
   *
   * @example
   * connect(url, { notifications: { "notifications/message": ({ level, data }) => console.error(level, data) } });
   */
  readonly notifications?: NotificationHandlers;
  /** Limits of the response cache; `false` disables it. */
  readonly cache?: CacheOptions | false;
  /**
   * Whether to reconnect after the connection is lost: the next call opens a new session, and open subscriptions are restored.
   * Use it for servers whose process may exit. Calls in flight fail in any case. Default: false.
   */
  readonly reopen?: boolean;
}

/** The members of `ClientOptions`, for the check of options. */
export const clientMembers: MembersOf<ClientOptions> = {
  ...openMembers,
  info: implementationMembers,
  handlers: inputHandlerMembers,
  capabilities: ["capability"],
  notifications: notificationMembers,
  cache: cacheMembers,
  reopen: ["reconnect"],
};

/**
 * Opens a conversation in the way of its transport.
 * @throws RangeError for a revision that does not exist; TypeError for capabilities that are not JSON; RpcError or LocalError as the opening fails
 */
export async function openClient<Tools extends ToolTypes>(
  open: SessionOpener,
  options: ClientOptions = {},
): Promise<Client<Tools>> {
  const { info = thisLibrary, revision: version, handlers = {}, capabilities, reopen = false, ...given } = options;
  const { clock = systemClock } = options;
  const random = randomOf(options);
  const rest = { ...given, random };
  const revision = version === undefined ? undefined : knownRevision(version);
  const responder = inputResponderOf(handlers, readCapabilities("connect", capabilities));
  const identity = { info, responder };
  const report = reporterOf(options.report);
  const emitter = new NotificationEmitter(report, listenerOf(options, report));
  const onNotification: NotificationEmitter["emit"] = (method, params) => emitter.emit(method, params);
  const first = await open({
    ...rest,
    identity,
    onNotification,
    ...(revision === undefined ? {} : { revision }),
  });
  const listed = new ListedTools(report);
  const again: Reopen = (spoken, serverHint, signal) => {
    listed.clear(); // It may be another process, with other tools.
    return open({ ...rest, identity, onNotification, revision: spoken, serverHint: serverHint, signal });
  };
  const conversation = new ReconnectingSession(first, { clock, random }, reopen ? again : undefined);
  return clientOf(conversation, { responder, emitter, listed, report }, options);
}

function listenerOf(
  { notifications: handlers = {}, onNotification }: ClientOptions,
  report: Reporter,
): NotificationListener {
  const byMethod = new Map<string, unknown>(Object.entries(handlers));
  return (method, params) => {
    // The handler of a method takes what its server says are params of it.
    const handler = byMethod.get(method) as ((params: unknown) => unknown) | undefined;
    guarded(method, () => handler?.(params ?? {}), report);
    return onNotification?.(method, params);
  };
}

/** What this side of the conversation is made of before there is one. */
interface ClientSide {
  readonly responder: InputResponder;
  readonly emitter: NotificationEmitter;
  readonly listed: ListedTools;
  readonly report: Reporter;
}

function clientOf<Tools extends ToolTypes>(
  conversation: ReconnectingSession,
  { responder, emitter, listed, report }: ClientSide,
  options: ClientOptions,
): Client<Tools> {
  const { handlers = {}, lenient = false, clock = systemClock } = options;
  const { timeout = defaultTimeouts.idle, totalTimeout = defaultTimeouts.total } = options;
  const { ended } = conversation;
  // Only the stateless era says for how long an answer holds.
  const isKeeping = conversation.revision.era === "stateless" && options.cache !== false;
  const responses = new ResponseCache(clock, options.cache === false ? {} : options.cache);
  onAbort(ended, () => responses.clear()); // What is over answers nothing.
  emitter.listen((method, params) => {
    responses.hear(method, params);
    if (method === notifications.toolsChanged) listed.clear();
  });
  const subscribe = subscribeWith({
    follow: followByEra(conversation, { emitter, clock, timeout }),
    offer: conversation,
    clock,
    random: randomOf(options),
    over: ended,
    missed() {
      responses.clear();
      listed.clear();
    },
    report,
  });
  // Within the rounds: what came of somebody's answers is nothing to keep.
  const kept = isKeeping ? responses.around(conversation.call) : conversation.call;
  const { revision } = conversation;
  const answered = inputCall({ call: kept, revision }, { responder, clock, totalTimeout, over: ended, emitter });
  const call = advertisedCall(answered, conversation, lenient);
  return new Client<Tools>({ conversation, answers: handlers, call, clock, report, lenient, listed, subscribe });
}

const thisLibrary: Implementation = { name: "parlance", version: "0.1.0" };
