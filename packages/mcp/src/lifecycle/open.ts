import { systemClock } from "../base/clock.js";
import { kindOf } from "../base/json.js";
import { isPromise } from "../base/later.js";
import type { MembersOf } from "../base/members.js";
import { longestTimer, settlesWithin } from "../base/settles-within.js";
import type { Channel } from "../jsonrpc/channel.js";
import { codes, LocalError, RpcError } from "../jsonrpc/errors.js";
import { answered, reporterOf } from "../jsonrpc/hooks.js";
import { defaultTimeouts } from "../jsonrpc/outgoing-call.js";
import { termsOf } from "../jsonrpc/terms.js";
import { specCodes } from "../protocol/errors.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import { latest } from "../revisions/all.js";
import type { Era, Revision } from "../revisions/revision.js";
import { closedOnFailure, requireWanted } from "./closed-on-failure.js";
import { confirmInitialize, sendInitialize } from "./handshake-client.js";
import { allowHandshake, insist } from "./insist.js";
import { type Line, type LineOptions, lineMembers, lineOn } from "./line.js";
import type { CarriedConversation, ClientIdentity, Opened, Prior } from "./opened.js";
import { probe, supportedVersionsOf, type Verdict, verdictOf } from "./probe.js";
import { openStateless } from "./stateless-client.js";

/** Milliseconds: longer than most servers take to start, and short enough for a person who waits. */
const defaultProbeTimeout = 5_000;

/** Makes a carrier to the server. Called again only if the first one has ended on the probe. */
export type Dial = () => Channel;

export interface OpenOptions extends LineOptions {
  readonly identity: ClientIdentity;
  /** Speak this revision or fail. Default: the newest that both sides speak. */
  readonly revision?: Revision;
  /** Speak a revision of this era or fail. Default: that of `revision`, or either. */
  readonly era?: Era;
  /**
   * Milliseconds to wait for the answer to `server/discover` alone: a server of the handshake era may never give one. After
   * them `initialize` is sent too, on the same channel, and waited for as long as `timeout` says; a report says that the server
   * is slow. Default: 5,000, or `timeout` if that is shorter.
   */
  readonly probeTimeout?: number;
  /** What is known of the server from an earlier time. A revision that is insisted on counts for more. */
  readonly prior?: Prior;
  /** From 0 to 1, evenly spread: so that many clients do not come back at once. Default: `Math.random`. */
  readonly random?: () => number;
  /** Gives up the opening. An open conversation does not look at it any more. */
  readonly signal?: AbortSignal;
}

/** The members of `OpenOptions` that an application may give, for the check of options. */
export const openMembers: MembersOf<Omit<OpenOptions, "identity">> = {
  ...lineMembers,
  revision: ["protocolVersion", "version", "versions"],
  era: [],
  probeTimeout: [],
  prior: [],
  random: [],
  signal: ["abortSignal"],
};

/** The `random` option, as what cannot fail: then the platform's takes its place. */
export function randomOf({ random = Math.random, report }: Pick<OpenOptions, "random" | "report">): () => number {
  if (random === Math.random) return random;
  return () => answered("random", random, reporterOf(report)) ?? Math.random();
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
  const { clock = systemClock } = options;
  const milliseconds = Math.min(probePatience(options), longestTimer);
  const slow = clock.setTimer(() => termsOf(options).report({ kind: "slow-start", milliseconds }), milliseconds);
  try {
    return await openInSteps(dial, options);
  } finally {
    clock.clearTimer(slow);
  }
}

async function openInSteps(dial: Dial, options: OpenOptions): Promise<CarriedConversation> {
  let step = firstStep(options);
  let used: { readonly channel: Channel; readonly spent: Spent } | undefined;
  for (;;) {
    requireWanted(options.signal);
    const channel = dial();
    if (typeof channel?.open !== "function") throw noChannel(channel);
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

/** The probe; where it has no answer in time, `initialize` as well. */
async function ask(line: Line, options: OpenOptions): Promise<CarriedConversation | Spent> {
  const { identity, revision, era = revision?.era, timeout = defaultTimeouts.idle, clock = systemClock } = options;
  const patience = probePatience(options);
  const isInsisted = era === "stateless";
  const stop = new AbortController();
  let isSettled = false;
  const verdict = probe(line.connection, identity, revision ?? latest, {
    timeout: isInsisted ? timeout : patience + timeout,
    signal: stop.signal,
    onOutcome: () => {
      isSettled = true;
    },
  });
  if (isInsisted || (await settlesWithin(settled(verdict), patience, clock)))
    return concluded(line, options, await verdict);
  return initializeToo(line, options, { verdict, isSettled: () => isSettled, stop });
}

/** A probe that waits for its answer. */
interface PendingProbe {
  readonly verdict: Promise<Verdict>;
  /** Whether the question has an answer, or will get none. */
  isSettled(): boolean;
  readonly stop: AbortController;
}

/**
 * The server is slow to start, or ignores `server/discover`. Nothing but time tells the two apart, so `initialize` follows on
 * the same channel, and the first answer counts. The server is not started again for it: it would be no faster, and
 * one that speaks both eras would be taken for an old one.
 */
async function initializeToo(
  line: Line,
  options: OpenOptions,
  probing: PendingProbe,
): Promise<CarriedConversation | Spent> {
  const { identity, timeout } = options;
  const stop = new AbortController();
  const how = { signal: stop.signal, ...(timeout === undefined ? {} : { timeout }) };
  const result = sendInitialize(line.connection, identity, how);
  await Promise.race([settled(probing.verdict), settled(result)]);
  // A server without a handshake may answer its refusal before the question that came first.
  if (!probing.isSettled() && (await isForeign(result))) await settled(probing.verdict);
  if (probing.isSettled()) {
    const verdict = await probing.verdict;
    if (verdict.era === "stateless") {
      stop.abort();
      return concluded(line, options, verdict);
    }
    const { reason } = verdict.why;
    if (reason === "closed") return { next: initializeAgain, method: methods.initialize, why: verdict.why };
    if (reason === "timeout") await result.catch(explainSilence);
  }
  const confirmable = await result;
  probing.stop.abort();
  return confirmed(line, options, confirmable);
}

/** Resolves when a promise is settled, either way. */
async function settled(promise: Promise<unknown>): Promise<undefined> {
  return promise.then(
    () => undefined,
    () => undefined,
  );
}

/** Whether a server has answered `initialize` as one does that has no handshake. */
async function isForeign(result: Promise<JsonObject>): Promise<boolean> {
  try {
    await result;
    return false;
  } catch (error) {
    const { code } = error instanceof RpcError ? error : {};
    return code === specCodes.unsupportedProtocolVersion || code === codes.methodNotFound;
  }
}

/** @throws always: the error, with a remedy where the server has answered nothing at all */
function explainSilence(error: unknown): never {
  if (!(error instanceof LocalError) || error.reason !== "timeout") throw error;
  const remedy = `nor ${methods.discover}: if that makes the server hang, insist on a revision of the handshake era`;
  throw new LocalError("timeout", `${error.message}; ${remedy}`, { cause: error });
}

/** A server that is known to answer is waited for like for any other answer. */
function probePatience({ probeTimeout, timeout, prior }: OpenOptions): number {
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
  if (answered) return initialize(line, options);
  if (why.reason === "timeout") throw why;
  return { next: initializeAgain, method: methods.initialize, why };
}

async function initialize(line: Line, options: OpenOptions): Promise<CarriedConversation> {
  const { identity, revision, timeout } = options;
  const how = { revision, ...(timeout === undefined ? {} : { timeout }) };
  return confirmed(line, options, await sendInitialize(line.connection, identity, how));
}

function confirmed(line: Line, options: OpenOptions, result: JsonObject): CarriedConversation {
  const { revision, lenient = false } = options;
  const { report } = termsOf(options);
  const opened = confirmInitialize(line.connection, result, (agreed) => line.agreed(agreed), { lenient, report });
  insist(revision, opened.revision);
  return onLine(line, opened);
}

/** The server has ended on the probe. If it has no handshake, it has ended for another reason, and is asked once more. */
async function initializeAgain(line: Line, options: OpenOptions): Promise<CarriedConversation | Spent> {
  const { identity, timeout = defaultTimeouts.idle } = options;
  try {
    return await initialize(line, options);
  } catch (error) {
    if (!(error instanceof RpcError) || supportedVersionsOf(error) === undefined) throw error;
    const verdict = await probe(line.connection, identity, latest, { timeout });
    if (verdict.era === "handshake") throw error;
    return concluded(line, options, verdict);
  }
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

/** @param made a promise as well: a function that has to wait makes its channel first */
function noChannel(made: unknown): TypeError {
  return new TypeError(
    `connect was given a function that returns ${isPromise(made) ? "a promise" : kindOf(made)}, not a channel`,
  );
}

/** A target that is a channel can be opened once. */
function cannotRedial({ method, why }: Spent): LocalError {
  const remedy = "give a function that makes channels, or insist on a revision of the handshake era";
  const message = `${why.message}; ${method} needs a fresh channel: ${remedy}`;
  return new LocalError(why.reason, message, { cause: why });
}
