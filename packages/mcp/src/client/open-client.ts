import { systemClock } from "../base/clock.js";
import { answeringCall } from "../lifecycle/answer-rounds.js";
import { type Dial, type OpenedOnChannel, type OpenOptions, openOnChannel } from "../lifecycle/open.js";
import type { Implementation } from "../protocol/implementation.js";
import { methods, notifications } from "../protocol/methods.js";
import { revisionOf, versions } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { type Answers, answeringOf } from "./answers.js";
import { type CacheOptions, ResponseCache } from "./cache.js";
import { Client } from "./client.js";
import type { Follow } from "./follow.js";
import { followByListening } from "./follow-listening.js";
import { followBySubscribing } from "./follow-subscribing.js";
import { offeredCall } from "./offered.js";
import { OutputSchemas } from "./output-schemas.js";
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
  /** From 0 to 1, evenly spread: so that many clients do not come back at once. Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * Opens a conversation over carriers that `dial` makes.
 * @throws RangeError for a revision that does not exist; RpcError or LocalError as the opening fails
 */
export async function openClient<Tools extends ToolTypes>(
  dial: Dial,
  options: ClientOptions = {},
): Promise<Client<Tools>> {
  const { info = thisLibrary, revision: version, answers = {}, cache, random, ...rest } = options;
  const revision = version === undefined ? undefined : knownRevision(version);
  const identity = { info, answering: answeringOf(answers) };
  const opened = await openOnChannel(dial, { ...rest, identity, ...(revision === undefined ? {} : { revision }) });
  return clientOn(opened, options);
}

function knownRevision(version: string): Revision {
  const revision = revisionOf(version);
  if (revision !== undefined) return revision;
  throw new RangeError(`There is no protocol revision ${JSON.stringify(version)}: one of ${versions.join(", ")} is`);
}

function clientOn<Tools extends ToolTypes>(opened: OpenedOnChannel, options: ClientOptions): Client<Tools> {
  const { answers = {}, clock = systemClock, random = Math.random, totalTimeout = 600_000 } = options;
  const { revision, over, heard } = opened;
  const answered = answeringCall(opened.call, { answering: answeringOf(answers), revision, clock, totalTimeout, over });
  // Only the stateless era says for how long an answer holds.
  const cache = revision.era === "stateless" && options.cache !== false ? (options.cache ?? {}) : undefined;
  const responses = new ResponseCache(clock, cache);
  const outputs = new OutputSchemas();
  heard.listen((method, params) => {
    responses.hear(method, params);
    if (method === notifications.toolsChanged) outputs.forget();
  });
  const subscribe = subscribeWith({
    follow: followOn(opened, options),
    offer: opened,
    clock,
    random,
    over,
    missed: () => responses.clear(),
  });
  const call = offeredCall(cache === undefined ? answered : responses.around(answered), opened);
  return new Client<Tools>({ opened, answers, call, outputs, subscribe });
}

function followOn({ revision, call, heard }: OpenedOnChannel, options: ClientOptions): Follow {
  const { clock = systemClock, timeout = 60_000 } = options;
  const listens = revision.requests.client.has(methods.listen);
  return listens ? followByListening({ call, heard, clock, timeout }) : followBySubscribing(call, heard);
}

const thisLibrary: Implementation = { name: "parlance", version: "0.1.0" };
