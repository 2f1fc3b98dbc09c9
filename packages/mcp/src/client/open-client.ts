import { systemClock } from "../base/clock.js";
import type { MembersOf } from "../base/members.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import { guarded, reporterOf } from "../jsonrpc/hooks.js";
import { defaultTimeouts } from "../jsonrpc/outgoing-call.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { NotificationListener } from "../jsonrpc/routing.js";
import type { Answering } from "../lifecycle/answering.js";
import { answeringCall } from "../lifecycle/answering-call.js";
import { Heard } from "../lifecycle/heard.js";
import { type Again, LastingConversation } from "../lifecycle/lasting.js";
import { type Opening, type OpenOptions, openMembers, randomOf } from "../lifecycle/open.js";
import { type ClientCapabilities, readCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import { implementationMembers } from "../protocol/member-tables.js";
import { notifications } from "../protocol/methods.js";
import { knownRevision } from "../revisions/all.js";
import type { ToolTypes } from "../schema/tool-types.js";
import { type Answers, answeringOf, answerMembers } from "./answers.js";
import { type CacheOptions, cacheMembers, ResponseCache } from "./cache.js";
import { Client } from "./client.js";
import { followWith } from "./follow-either.js";
import { ListedTools } from "./listed-tools.js";
import { type NotificationHandlers, notificationMembers } from "./method-types.js";
import { offeredCall } from "./offered.js";
import { subscribeWith } from "./subscription.js";

/** What can be set about a client. */
export interface ClientOptions extends Omit<OpenOptions, "identity" | "revision"> {
  /** What the client says of itself. Default: this library. */
  readonly info?: Implementation;
  /** A protocol revision to insist on, e.g. one of `versions`. Default: the newest that both sides speak. */
  readonly revision?: string;
  /** What the server may ask, and who answers. Default: nothing, and nothing is declared. */
  readonly answers?: Answers;
  /**
   * What is declared besides what `answers` answers: extensions, `experimental`. Merged with the rest; where both have a value that is no
   * object, this one counts. A question that is declared here and has no answer is refused when a server asks it. Default: nothing.
   *
   * @example
   * await connect(url, { capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } } });
   */
  readonly capabilities?: ClientCapabilities;
  /**
   * The same as `onNotification`, by method and with types.
   *
   * @example
   * connect(url, { notifications: { "notifications/message": ({ level, data }) => console.error(level, data) } });
   */
  readonly notifications?: NotificationHandlers;
  /** Bounds on the answers that are kept for as long as the server says; false: none is. */
  readonly cache?: CacheOptions | false;
  /**
   * Whether the next call opens the conversation again when its carrier has broken, and open subscriptions do so by
   * themselves: for a server whose process may end. Calls that were under way fail all the same. Default: false.
   */
  readonly reopen?: boolean;
}

/** The members of `ClientOptions`, for the check of options. */
export const clientMembers: MembersOf<ClientOptions> = {
  ...openMembers,
  info: implementationMembers,
  answers: answerMembers,
  capabilities: ["capability"],
  notifications: notificationMembers,
  cache: cacheMembers,
  reopen: ["reconnect"],
};

/**
 * Opens a conversation in the way of its carrier.
 * @throws RangeError for a revision that does not exist; TypeError for capabilities that are not JSON; RpcError or LocalError as the opening fails
 */
export async function openClient<Tools extends ToolTypes>(
  open: Opening,
  options: ClientOptions = {},
): Promise<Client<Tools>> {
  const { info = thisLibrary, revision: version, answers = {}, capabilities, reopen = false, ...given } = options;
  const { clock = systemClock } = options;
  const random = randomOf(options);
  const rest = { ...given, random };
  const revision = version === undefined ? undefined : knownRevision(version);
  const answering = answeringOf(answers, readCapabilities("connect", capabilities));
  const identity = { info, answering };
  const report = reporterOf(options.report);
  const heard = new Heard(report, listenerOf(options, report));
  const onNotification: Heard["tell"] = (method, params) => heard.tell(method, params);
  const first = await open({
    ...rest,
    identity,
    onNotification,
    ...(revision === undefined ? {} : { revision }),
  });
  const listed = new ListedTools(report);
  const again: Again = (spoken, prior, signal) => {
    listed.clear(); // It may be another process, with other tools.
    return open({ ...rest, identity, onNotification, revision: spoken, prior, signal });
  };
  const conversation = new LastingConversation(first, { clock, random }, reopen ? again : undefined);
  return clientOf(conversation, { answering, heard, listed, report }, options);
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
  readonly answering: Answering;
  readonly heard: Heard;
  readonly listed: ListedTools;
  readonly report: Reporter;
}

function clientOf<Tools extends ToolTypes>(
  conversation: LastingConversation,
  { answering, heard, listed, report }: ClientSide,
  options: ClientOptions,
): Client<Tools> {
  const { answers = {}, lenient = false, clock = systemClock } = options;
  const { timeout = defaultTimeouts.idle, totalTimeout = defaultTimeouts.total } = options;
  const { over } = conversation;
  // Only the stateless era says for how long an answer holds.
  const isKeeping = conversation.revision.era === "stateless" && options.cache !== false;
  const responses = new ResponseCache(clock, options.cache === false ? {} : options.cache);
  onAbort(over, () => responses.clear()); // What is over answers nothing.
  heard.listen((method, params) => {
    responses.hear(method, params);
    if (method === notifications.toolsChanged) listed.clear();
  });
  const subscribe = subscribeWith({
    follow: followWith(conversation, { heard, clock, timeout }),
    offer: conversation,
    clock,
    random: randomOf(options),
    over,
    missed() {
      responses.clear();
      listed.clear();
    },
    report,
  });
  // Within the rounds: what came of somebody's answers is nothing to keep.
  const kept = isKeeping ? responses.around(conversation.call) : conversation.call;
  const { revision } = conversation;
  const answered = answeringCall({ call: kept, revision }, { answering, clock, totalTimeout, over, heard });
  const call = offeredCall(answered, conversation, lenient);
  return new Client<Tools>({ conversation, answers, call, clock, report, lenient, listed, subscribe });
}

const thisLibrary: Implementation = { name: "parlance", version: "0.1.0" };
