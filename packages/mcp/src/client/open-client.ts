import { systemClock } from "../base/clock.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import { defaultTimeouts } from "../jsonrpc/outgoing-call.js";
import { termsOf } from "../jsonrpc/terms.js";
import type { Answering } from "../lifecycle/answering.js";
import { answeringCall } from "../lifecycle/answering-call.js";
import { Heard } from "../lifecycle/heard.js";
import { type Again, LastingConversation } from "../lifecycle/lasting.js";
import type { Opening, OpenOptions } from "../lifecycle/open.js";
import type { Implementation } from "../protocol/implementation.js";
import { methods, notifications } from "../protocol/methods.js";
import { revisionOf, versions } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { type Answers, answeringOf } from "./answers.js";
import { type CacheOptions, ResponseCache } from "./cache.js";
import { Client } from "./client.js";
import { followWith } from "./follow-either.js";
import { ListedTools } from "./listed-tools.js";
import { offeredCall } from "./offered.js";
import { subscribeWith } from "./subscription.js";
import type { ToolTypes } from "./tool-types.js";

/** What can be set about a client. */
export interface ClientOptions extends Omit<OpenOptions, "identity" | "revision"> {
  /** What the client says of itself. Default: this library. */
  readonly info?: Implementation;
  /** A protocol revision to insist on, e.g. one of `versions`. Default: the newest that both sides speak. */
  readonly revision?: string;
  /** What the server may ask, and who answers. Default: nothing, and nothing is declared. */
  readonly answers?: Answers;
  /** Bounds on the answers that are kept for as long as the server says; false: none is. */
  readonly cache?: CacheOptions | false;
  /**
   * Whether the next call opens the conversation again when its carrier has broken, and open subscriptions do so by
   * themselves: for a server whose process may end. Calls that were under way fail all the same. Default: false.
   */
  readonly reopen?: boolean;
}

/**
 * Opens a conversation in the way of its carrier.
 * @throws RangeError for a revision that does not exist; RpcError or LocalError as the opening fails
 */
export async function openClient<Tools extends ToolTypes>(
  open: Opening,
  options: ClientOptions = {},
): Promise<Client<Tools>> {
  const { info = thisLibrary, revision: version, answers = {}, reopen = false, ...rest } = options;
  const revision = version === undefined ? undefined : knownRevision(version);
  const answering = answeringOf(answers);
  const identity = { info, answering };
  const heard = new Heard(options.onNotification);
  const onNotification: Heard["tell"] = (method, params) => heard.tell(method, params);
  const first = await open({
    ...rest,
    identity,
    onNotification,
    ...(revision === undefined ? {} : { revision }),
  });
  const listed = new ListedTools();
  const again: Again = (spoken, prior, signal) => {
    listed.clear(); // It may be another process, with other tools.
    return open({ ...rest, identity, onNotification, revision: spoken, prior, signal });
  };
  const conversation = new LastingConversation(first, reopen ? again : undefined);
  return clientOf(conversation, { answering, heard, listed }, options);
}

function knownRevision(version: string): Revision {
  const revision = revisionOf(version);
  if (revision !== undefined) return revision;
  throw new RangeError(`There is no protocol revision ${JSON.stringify(version)}: one of ${versions.join(", ")} is`);
}

/** What this side of the conversation is made of before there is one. */
interface ClientSide {
  readonly answering: Answering;
  readonly heard: Heard;
  readonly listed: ListedTools;
}

function clientOf<Tools extends ToolTypes>(
  conversation: LastingConversation,
  { answering, heard, listed }: ClientSide,
  options: ClientOptions,
): Client<Tools> {
  const { answers = {}, clock = systemClock, random = Math.random } = options;
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
    random,
    over,
    missed() {
      responses.clear();
      listed.clear();
    },
    fault: (error) => termsOf(options).report({ kind: "fault", method: methods.listen, error }),
  });
  // Within the rounds: what came of somebody's answers is nothing to keep.
  const kept = isKeeping ? responses.around(conversation.call) : conversation.call;
  const { revision } = conversation;
  const answered = answeringCall({ call: kept, revision }, { answering, clock, totalTimeout, over, heard });
  const call = offeredCall(answered, conversation);
  return new Client<Tools>({ conversation, answers, call, clock, listed, subscribe });
}

const thisLibrary: Implementation = { name: "parlance", version: "0.1.0" };
