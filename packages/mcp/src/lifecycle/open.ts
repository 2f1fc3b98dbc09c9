import type { Channel } from "../jsonrpc/channel.js";
import { LocalError, RpcError } from "../jsonrpc/errors.js";
import { defaultTimeouts } from "../jsonrpc/outgoing-call.js";
import { methods } from "../protocol/methods.js";
import { latest, latestHandshake } from "../revisions/all.js";
import type { Era, Revision } from "../revisions/revision.js";
import { closedOnFailure, requireWanted } from "./closed-on-failure.js";
import { openHandshake } from "./handshake-client.js";
import { allowHandshake, insist } from "./insist.js";
import { type Line, type LineOptions, lineOn } from "./line.js";
import type { CarriedConversation, ClientIdentity, Opened, Prior } from "./opened.js";
import { probe, type Verdict, verdictOf } from "./probe.js";
import { openStateless } from "./stateless-client.js";

/** Milliseconds: a server that is slower to start than this is rare, and a person waits. */
const defaultProbeTimeout = 5_000;

/** Makes a carrier to the server. Called again if the first one did not survive the probe. */
export type Dial = () => Channel;

export interface OpenOptions extends LineOptions {
  readonly identity: ClientIdentity;
  /** Speak this revision or fail. Default: the newest that both sides speak. */
  readonly revision?: Revision;
  /** Speak a revision of this era or fail. Default: that of `revision`, or either. */
  readonly era?: Era;
  /**
   * Milliseconds to wait for the answer to the probe; a server of the handshake era may never give one. Default: 5,000,
   * or `timeout` if that is shorter.
   */
  readonly probeTimeout?: number;
  /** What is known of the server from an earlier time. A revision that is insisted on counts for more. */
  readonly prior?: Prior;
  /** From 0 to 1, evenly spread: so that many clients do not come back at once. Default: `Math.random`. */
  readonly random?: () => number;
  /** Gives up the opening. An open conversation does not look at it any more. */
  readonly signal?: AbortSignal;
}

/** Opens a conversation, on whatever carries it. */
export type Opening = (options: OpenOptions) => Promise<CarriedConversation>;

/** A way to open a conversation on a fresh carrier. */
type Step = (line: Line, options: OpenOptions) => Promise<CarriedConversation | Spent>;

/** The carrier has not survived a step, or must not be used after it: what comes next wants a fresh one. */
interface Spent {
  readonly next: Step;
  /** The method that the next step begins with. */
  readonly method: string;
  readonly why: LocalError;
}

/**
 * Opens a conversation on a duplex carrier, in the era that the server speaks. On failure no carrier is left behind.
 * @throws RpcError what the server answered; LocalError `protocol` without a common revision, or as `Connection.call`
 */
export async function openOnChannel(dial: Dial, options: OpenOptions): Promise<CarriedConversation> {
  let step = firstStep(options);
  let used: { readonly channel: Channel; readonly spent: Spent } | undefined;
  for (;;) {
    requireWanted(options.signal);
    const channel = dial();
    if (channel === used?.channel) throw cannotRedial(used.spent);
    const line = lineOn(channel, options.identity.answering, options);
    const opened = await closedOnFailure(line, options.signal, step(line, options));
    if (!("next" in opened)) return opened;
    await line.close();
    used = { channel, spent: opened };
    step = opened.next;
  }
}

function firstStep({ revision, era = revision?.era, prior }: OpenOptions): Step {
  if (era === "handshake") return initialize;
  if (prior?.era === "stateless" && prior.discovered !== undefined) return resume;
  return era === undefined && prior?.era === "handshake" ? initializeAsBefore : ask;
}

/** The server has said before what it speaks: nothing is sent. */
async function resume(line: Line, options: OpenOptions): Promise<CarriedConversation | Spent> {
  const { prior, revision = latest } = options;
  return concluded(line, options, verdictOf(prior?.discovered ?? {}, revision));
}

/** The probe. */
async function ask(line: Line, options: OpenOptions): Promise<CarriedConversation | Spent> {
  const { identity, revision = latest } = options;
  return concluded(line, options, await probe(line.connection, identity, revision, patience(options)));
}

/** A server that is known to answer is waited for like for any other answer. */
function patience({ probeTimeout, timeout, prior }: OpenOptions): number {
  if (prior?.era === "stateless") return probeTimeout ?? timeout ?? defaultTimeouts.idle;
  return probeTimeout ?? Math.min(defaultProbeTimeout, timeout ?? defaultProbeTimeout);
}

async function concluded(line: Line, options: OpenOptions, verdict: Verdict): Promise<CarriedConversation | Spent> {
  const { identity, revision } = options;
  if (verdict.era === "stateless") {
    insist(revision, verdict.revision);
    line.agreed(verdict.revision);
    return onLine(line, openStateless(line.connection, identity, verdict.revision, verdict.discovered));
  }
  const { answered, why } = verdict;
  allowHandshake(options, verdict);
  return answered ? initialize(line, options) : { next: initialize, method: methods.initialize, why };
}

async function initialize(line: Line, { identity, revision, timeout }: OpenOptions): Promise<CarriedConversation> {
  const opened = await openHandshake(line.connection, identity, {
    revision: revision ?? latestHandshake,
    ...(timeout === undefined ? {} : { timeout }),
    onAgreement: (agreed) => line.agreed(agreed),
  });
  insist(revision, opened.revision);
  return onLine(line, opened);
}

/** A server that takes no handshake any more has changed since, and is asked. */
async function initializeAsBefore(line: Line, options: OpenOptions): Promise<CarriedConversation | Spent> {
  try {
    return await initialize(line, options);
  } catch (error) {
    if (error instanceof RpcError) return ask(line, options);
    if (error instanceof LocalError && error.reason !== "timeout")
      return { next: ask, method: methods.discover, why: error };
    throw error;
  }
}

function onLine({ connection, over, close }: Line, opened: Opened): CarriedConversation {
  return { ...opened, connection, over, close };
}

/** A target that is a channel can be opened once. */
function cannotRedial({ method, why }: Spent): LocalError {
  const remedy = "give a function that makes channels, or insist on a revision of the handshake era";
  const message = `${why.message}; ${method} needs a fresh channel: ${remedy}`;
  return new LocalError(why.reason, message, { cause: why });
}
