import type { MembersOf } from "../../base/check-members.js";
import { systemClock } from "../../base/clock.js";
import { kindOf } from "../../base/json.js";
import { isPromise } from "../../base/maybe-promise.js";
import { longestTimer, settlesWithin } from "../../base/settles-within.js";
import { defaultTimeouts } from "../../jsonrpc/calls/outgoing-call.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { codes, LocalError, RpcError } from "../../jsonrpc/errors.js";
import { answered, reporterOf } from "../../jsonrpc/hooks.js";
import { peerSettings } from "../../jsonrpc/peer-settings.js";
import { specCodes } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import { latest } from "../../protocol/revisions/all.js";
import type { Era, Revision } from "../../protocol/revisions/revision.js";
import {
  type ClientConnection,
  type ClientConnectionOptions,
  clientConnectionMembers,
  openClientConnection,
} from "./client-connection.js";
import type { ClientIdentity, ClientSession, ServerHint, SessionCalls } from "./client-session.js";
import { closedOnFailure, requireNotAborted } from "./closed-on-failure.js";
import { confirmInitialize, sendInitialize } from "./handshake-client.js";
import { type ProbeResult, probe, probeResult, supportedVersionsOf } from "./probe.js";
import { requireHandshakeAllowed, requireRevision } from "./require-revision.js";
import { openStateless } from "./stateless-client.js";

/** Milliseconds: longer than most servers take to start, and short enough for an interactive user. */
const defaultProbeTimeout = 5_000;

/** Opens a channel to the server. Called again only if the server closed the first one during the probe. */
export type ChannelFactory = () => Channel;

export interface OpenOptions extends ClientConnectionOptions {
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
  /** What a former connection learned about the server. A required revision takes precedence. */
  readonly serverHint?: ServerHint;
  /** From 0 to 1, evenly spread: so that many clients do not come back at once. Default: `Math.random`. */
  readonly random?: () => number;
  /** Gives up the opening. An open conversation does not look at it any more. */
  readonly signal?: AbortSignal;
}

/** The members of `OpenOptions` that an application may give, for the check of options. */
export const openMembers: MembersOf<Omit<OpenOptions, "identity">> = {
  ...clientConnectionMembers,
  revision: ["protocolVersion", "version", "versions"],
  era: [],
  probeTimeout: [],
  serverHint: [],
  random: [],
  signal: ["abortSignal"],
};

/** The `random` option, as what cannot fail: then the platform's takes its place. */
export function randomOf({ random = Math.random, report }: Pick<OpenOptions, "random" | "report">): () => number {
  if (random === Math.random) return random;
  return () => answered("random", random, reporterOf(report)) ?? Math.random();
}

/** Opens a conversation, on whatever carries it. */
export type SessionOpener = (options: OpenOptions) => Promise<ClientSession>;

/** A way to open a conversation on a fresh transport. */
type Step = (line: ClientConnection, options: OpenOptions) => Promise<ClientSession | Spent>;

/** The channel was closed by a step, or must not be reused: the next step needs a new one. */
interface Spent {
  readonly next: Step;
  /** The method that the next step begins with. */
  readonly method: string;
  readonly why: LocalError;
}

/**
 * Opens a session on a two-way transport, in the era that the server supports. On failure all channels are closed.
 * @throws RpcError what the server answered; LocalError `protocol` without a common revision, or as `Connection.call`
 */
export async function openOnChannel(dial: ChannelFactory, options: OpenOptions): Promise<ClientSession> {
  const { clock = systemClock } = options;
  const milliseconds = Math.min(probePatience(options), longestTimer);
  const slow = clock.setTimer(() => peerSettings(options).report({ kind: "slow-start", milliseconds }), milliseconds);
  try {
    return await openInSteps(dial, options);
  } finally {
    clock.clearTimer(slow);
  }
}

async function openInSteps(dial: ChannelFactory, options: OpenOptions): Promise<ClientSession> {
  let step = firstStep(options);
  let used: { readonly channel: Channel; readonly spent: Spent } | undefined;
  for (;;) {
    requireNotAborted(options.signal);
    const channel = dial();
    if (typeof channel?.open !== "function") throw noChannel(channel);
    if (channel === used?.channel) throw cannotRedial(used.spent);
    const line = openClientConnection(channel, options.identity.responder, options);
    const opened = await closedOnFailure(line, options.signal, step(line, options));
    if (!("next" in opened)) return opened;
    await line.close();
    used = { channel, spent: opened };
    step = opened.next;
  }
}

function firstStep({ revision, era = revision?.era, serverHint }: OpenOptions): Step {
  if (era === "handshake") return initialize;
  if (serverHint?.era === "stateless" && serverHint.discovered !== undefined) return resume;
  return era === undefined && serverHint?.era === "handshake" ? initializeAsBefore : ask;
}

/** The server hint has the discovery result: no request is sent. */
async function resume(line: ClientConnection, options: OpenOptions): Promise<ClientSession | Spent> {
  const { serverHint, revision = latest } = options;
  return concluded(line, options, probeResult(serverHint?.discovered ?? {}, revision));
}

/** The probe; where it has no answer in time, `initialize` as well. */
async function ask(line: ClientConnection, options: OpenOptions): Promise<ClientSession | Spent> {
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
  readonly verdict: Promise<ProbeResult>;
  /** Whether the probe has a response, or will get none. */
  isSettled(): boolean;
  readonly stop: AbortController;
}

/**
 * The server is slow to start, or ignores `server/discover`. Nothing but time tells the two apart, so `initialize` follows on
 * the same channel, and the first answer counts. The server is not started again for it: it would be no faster, and
 * one that speaks both eras would be taken for an old one.
 */
async function initializeToo(
  line: ClientConnection,
  options: OpenOptions,
  probing: PendingProbe,
): Promise<ClientSession | Spent> {
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
function probePatience({ probeTimeout, timeout, serverHint }: OpenOptions): number {
  if (serverHint?.era === "stateless") return probeTimeout ?? timeout ?? defaultTimeouts.idle;
  return probeTimeout ?? Math.min(defaultProbeTimeout, timeout ?? defaultProbeTimeout);
}

async function concluded(
  line: ClientConnection,
  options: OpenOptions,
  verdict: ProbeResult,
): Promise<ClientSession | Spent> {
  const { identity, revision } = options;
  if (verdict.era === "stateless") {
    requireRevision(revision, verdict.revision);
    line.negotiated(verdict.revision);
    return onLine(line, openStateless(line.connection, identity, verdict.revision, verdict.discovered));
  }
  const { answered, why } = verdict;
  requireHandshakeAllowed(options, verdict);
  if (answered) return initialize(line, options);
  if (why.reason === "timeout") throw why;
  return { next: initializeAgain, method: methods.initialize, why };
}

async function initialize(line: ClientConnection, options: OpenOptions): Promise<ClientSession> {
  const { identity, revision, timeout } = options;
  const how = { revision, ...(timeout === undefined ? {} : { timeout }) };
  return confirmed(line, options, await sendInitialize(line.connection, identity, how));
}

function confirmed(line: ClientConnection, options: OpenOptions, result: JsonObject): ClientSession {
  const { revision, lenient = false } = options;
  const { report } = peerSettings(options);
  const opened = confirmInitialize(line.connection, result, (agreed) => line.negotiated(agreed), { lenient, report });
  requireRevision(revision, opened.revision);
  return onLine(line, opened);
}

/** The server exited on the probe. If it has no handshake, it exited for another reason, and is probed once more. */
async function initializeAgain(line: ClientConnection, options: OpenOptions): Promise<ClientSession | Spent> {
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

/** A server that no longer accepts a handshake was upgraded: probe it. */
async function initializeAsBefore(line: ClientConnection, options: OpenOptions): Promise<ClientSession | Spent> {
  try {
    return await initialize(line, options);
  } catch (error) {
    if (error instanceof RpcError) return ask(line, options);
    if (error instanceof LocalError && error.reason !== "timeout")
      return { next: ask, method: methods.discover, why: error };
    throw error;
  }
}

function onLine({ connection, ended, close }: ClientConnection, opened: SessionCalls): ClientSession {
  return { ...opened, connection, ended, close };
}

/** @param made a channel, or a promise of one: the factory may be async */
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
