import type { MembersOf } from "../../base/check-members.js";
import { longestTimer, settlesWithin } from "../../base/clock.js";
import { type JsonObject, kindOf } from "../../base/json.js";
import { isPromise } from "../../base/maybe-promise.js";
import { onAbort } from "../../jsonrpc/abort-listeners.js";
import { defaultTimeouts } from "../../jsonrpc/calls/outgoing-call.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { codes, LocalError, RpcError } from "../../jsonrpc/errors.js";
import { answered, reporterOf } from "../../jsonrpc/hooks.js";
import { peerSettings } from "../../jsonrpc/peer-settings.js";
import { specCodes } from "../../protocol/errors.js";
import { methods, notifications } from "../../protocol/methods.js";
import { latest } from "../../protocol/revisions/all.js";
import type { Era, Revision } from "../../protocol/revisions/revision.js";
import type { Implementation } from "../../protocol/types/implementation.js";
import {
  type ClientConnection,
  type ClientConnectionOptions,
  clientConnectionMembers,
  openClientConnection,
} from "./client-connection.js";
import {
  type ClientIdentity,
  type ClientSession,
  handshakeSession,
  requireNotAborted,
  type ServerHint,
  statelessSession,
} from "./client-session.js";
import {
  negotiatedRevision,
  type ProbeResult,
  probe,
  probeResult,
  requireHandshakeAllowed,
  requireRevision,
  sendInitialize,
  supportedVersionsOf,
} from "./negotiate.js";

/** Milliseconds: longer than most servers take to start, and short enough for an interactive user. */
const defaultProbeTimeout = 5_000;

/** Opens a channel to the server. Called again only if the server closed the first one during the probe. */
export type ChannelFactory = () => Channel;

export interface OpenOptions extends ClientConnectionOptions {
  /** The client: its name, and what it answers. */
  readonly identity: ClientIdentity;
  /** The required revision. Default: the newest that both sides support. */
  readonly revision?: Revision;
  /** Speak a revision of this era or fail. Default: that of `revision`, or either. */
  readonly era?: Era;
  /**
   * Milliseconds to wait for the response to `server/discover` alone, because a server of the handshake era may send none. After
   * that the client also sends `initialize` on the same channel, waits for up to `timeout`, and reports a slow server.
   * Default: 5,000, or `timeout` if that is shorter.
   */
  readonly probeTimeout?: number;
  /** `client.serverHint` of an earlier connection. A required revision takes precedence. Default: none. */
  readonly serverHint?: ServerHint;
  /** A number from 0 to 1, evenly distributed: spreads the reconnections of many clients. Default: `Math.random`. */
  readonly random?: () => number;
  /** Cancels the opening. It has no effect on an open session. Default: none. */
  readonly signal?: AbortSignal;
}

/** The members of `OpenOptions` that an application may set, to detect unknown options. */
export const openMembers: MembersOf<Omit<OpenOptions, "identity">> = {
  ...clientConnectionMembers,
  revision: ["object", "protocolVersion", "version", "versions"],
  era: ["string"],
  probeTimeout: ["number"],
  serverHint: ["object"],
  random: ["function"],
  signal: ["object", "abortSignal"],
};

/** The `random` option; if it fails, `Math.random` replaces it. */
export function randomOf({ random = Math.random, report }: Pick<OpenOptions, "random" | "report">): () => number {
  if (random === Math.random) return random;
  return () => answered("random", random, reporterOf(report)) ?? Math.random();
}

/** The name of a client that gives none. */
export const thisLibrary: Implementation = { name: "parlance", version: "0.1.0" };

/** Opens a session over a transport. */
export type SessionOpener = (options: OpenOptions) => Promise<ClientSession>;

/** An attempt to open a session on a fresh connection. */
type Attempt = (transport: ClientConnection, options: OpenOptions) => Promise<ClientSession | Spent>;

/** The attempt closed the channel, or the channel must not be reused: the next attempt needs a new one. */
interface Spent {
  readonly next: Attempt;
  /** The method that the next attempt begins with. */
  readonly method: string;
  readonly why: LocalError;
}

/**
 * Opens a session on a two-way transport, in the era that the server supports. On failure all channels are closed.
 * @throws RpcError the error of the server; LocalError `protocol` without a common revision, or as `Connection.call`
 */
export async function openOnChannel(dial: ChannelFactory, options: OpenOptions): Promise<ClientSession> {
  const { clock, report } = peerSettings(options);
  const milliseconds = Math.min(probePatience(options), longestTimer);
  const slow = clock.setTimer(() => report({ kind: "slow-start", milliseconds }), milliseconds);
  try {
    return await openInAttempts(dial, options);
  } finally {
    clock.clearTimer(slow);
  }
}

async function openInAttempts(dial: ChannelFactory, options: OpenOptions): Promise<ClientSession> {
  let attempt = firstAttempt(options);
  let used: { readonly channel: Channel; readonly spent: Spent } | undefined;
  for (;;) {
    requireNotAborted("connect", options.signal);
    const channel = dial();
    if (typeof channel?.open !== "function") throw noChannel(channel);
    if (channel === used?.channel) throw cannotRedial(used.spent);
    const transport = openClientConnection(channel, options.identity.responder, options);
    const opened = await closedOnFailure(transport, options.signal, attempt(transport, options));
    if (!("next" in opened)) return opened;
    await transport.close();
    used = { channel, spent: opened };
    attempt = opened.next;
  }
}

function firstAttempt({ revision, era = revision?.era, serverHint }: OpenOptions): Attempt {
  if (era === "handshake") return initialize;
  if (serverHint?.era === "stateless" && serverHint.discovered !== undefined) return resume;
  return era === undefined && serverHint?.era === "handshake" ? initializeAsBefore : probeFirst;
}

/** The server hint has the discovery result: no request is sent. */
async function resume(transport: ClientConnection, options: OpenOptions): Promise<ClientSession | Spent> {
  const { serverHint, revision = latest } = options;
  return afterProbe(transport, options, probeResult(serverHint?.discovered ?? {}, revision));
}

/** Sends `server/discover`; without a response in time, `initialize` as well. */
async function probeFirst(transport: ClientConnection, options: OpenOptions): Promise<ClientSession | Spent> {
  const { identity, revision, era = revision?.era, timeout = defaultTimeouts.idle } = options;
  const patience = probePatience(options);
  const isRequired = era === "stateless";
  const stop = new AbortController();
  let isSettled = false;
  const probed = probe(transport.connection, identity, revision ?? latest, {
    timeout: isRequired ? timeout : patience + timeout,
    signal: stop.signal,
    onOutcome: () => {
      isSettled = true;
    },
  });
  if (isRequired || (await settlesWithin(Promise.allSettled([probed]), patience, transport.connection.settings.clock)))
    return afterProbe(transport, options, await probed);
  return initializeToo(transport, options, { probed, isSettled: () => isSettled, stop });
}

/** A probe without a response. */
interface PendingProbe {
  readonly probed: Promise<ProbeResult>;
  /** Whether the probe has a response, or will get none. */
  isSettled(): boolean;
  readonly stop: AbortController;
}

/**
 * The server is slow to start, or ignores `server/discover`. The client cannot tell which, so it sends `initialize` on the
 * same channel too, and the first response counts. It does not restart the server, which would be no faster; a server of
 * both eras would then be mistaken for an old one.
 */
async function initializeToo(
  transport: ClientConnection,
  options: OpenOptions,
  pending: PendingProbe,
): Promise<ClientSession | Spent> {
  const stop = new AbortController();
  const result = sendInitialize(transport.connection, options.identity, { signal: stop.signal });
  await Promise.race([Promise.allSettled([pending.probed]), Promise.allSettled([result])]);
  // A server without a handshake may reject `initialize` before it responds to the earlier probe.
  if (!pending.isSettled() && (await isRejectedAsUnknown(result))) await Promise.allSettled([pending.probed]);
  if (pending.isSettled()) {
    const probed = await pending.probed;
    if (probed.era === "stateless") {
      stop.abort();
      return afterProbe(transport, options, probed);
    }
    const { reason } = probed.why;
    if (reason === "closed") return { next: initializeAgain, method: methods.initialize, why: probed.why };
    if (reason === "timeout") await result.catch(explainSilence);
  }
  const initialized = await result;
  pending.stop.abort();
  return confirmed(transport, options, initialized);
}

/** Whether the server rejected `initialize` because it has no handshake. */
async function isRejectedAsUnknown(result: Promise<JsonObject>): Promise<boolean> {
  try {
    await result;
    return false;
  } catch (error) {
    const { code } = error instanceof RpcError ? error : {};
    return code === specCodes.unsupportedProtocolVersion || code === codes.methodNotFound;
  }
}

/** @throws always: the error, with a remedy if the server sent no response at all */
function explainSilence(error: unknown): never {
  if (!(error instanceof LocalError) || error.reason !== "timeout") throw error;
  const remedy = `nor ${methods.discover}: if that makes the server hang, require a revision of the handshake era`;
  throw new LocalError("timeout", `${error.message}; ${remedy}`, { cause: error });
}

/** A server that responded to an earlier probe gets the time of any other call. */
function probePatience({ probeTimeout, timeout, serverHint }: OpenOptions): number {
  if (serverHint?.era === "stateless") return probeTimeout ?? timeout ?? defaultTimeouts.idle;
  return probeTimeout ?? Math.min(defaultProbeTimeout, timeout ?? defaultProbeTimeout);
}

async function afterProbe(
  transport: ClientConnection,
  options: OpenOptions,
  probed: ProbeResult,
): Promise<ClientSession | Spent> {
  const { identity, revision } = options;
  if (probed.era === "stateless") {
    requireRevision(revision, probed.revision);
    transport.negotiated(probed.revision);
    return statelessSession(transport, identity, probed.revision, probed.discovered);
  }
  const { answered, why } = probed;
  requireHandshakeAllowed(options, probed);
  if (answered) return initialize(transport, options);
  if (why.reason === "timeout") throw why;
  return { next: initializeAgain, method: methods.initialize, why };
}

async function initialize(transport: ClientConnection, options: OpenOptions): Promise<ClientSession> {
  const { identity, revision } = options;
  return confirmed(transport, options, await sendInitialize(transport.connection, identity, { revision }));
}

/** Confirms an `initialize` result with `notifications/initialized`. */
function confirmed(transport: ClientConnection, options: OpenOptions, result: JsonObject): ClientSession {
  const revision = negotiatedRevision(result, options.lenient === true, peerSettings(options).report);
  transport.negotiated(revision);
  transport.connection.notify(notifications.initialized);
  requireRevision(options.revision, revision);
  return handshakeSession(transport, revision, result);
}

/** The server exited after the probe. If it rejects the handshake too, it exited for another reason: probe it once more. */
async function initializeAgain(transport: ClientConnection, options: OpenOptions): Promise<ClientSession | Spent> {
  try {
    return await initialize(transport, options);
  } catch (error) {
    if (!(error instanceof RpcError) || supportedVersionsOf(error) === undefined) throw error;
    const probed = await probe(transport.connection, options.identity, latest, {});
    if (probed.era === "handshake") throw error;
    return afterProbe(transport, options, probed);
  }
}

/** A server that no longer accepts a handshake was upgraded: probe it. */
async function initializeAsBefore(transport: ClientConnection, options: OpenOptions): Promise<ClientSession | Spent> {
  try {
    return await initialize(transport, options);
  } catch (error) {
    if (error instanceof RpcError) return probeFirst(transport, options);
    if (error instanceof LocalError && error.reason !== "timeout")
      return { next: probeFirst, method: methods.discover, why: error };
    throw error;
  }
}

/**
 * Waits for the opening of a session, and closes its transport if that fails or is cancelled.
 * @throws as the opening; LocalError `cancelled`
 */
export async function closedOnFailure<T>(
  transport: { close(): Promise<void> },
  signal: AbortSignal | undefined,
  opening: Promise<T>,
): Promise<T> {
  const forget = signal === undefined ? undefined : onAbort(signal, () => void transport.close());
  try {
    const opened = await opening;
    requireNotAborted("connect", signal);
    return opened;
  } catch (error) {
    await transport.close();
    requireNotAborted("connect", signal);
    throw error;
  } finally {
    forget?.();
  }
}

/** @param made a channel, or a promise of one: the factory may be async */
function noChannel(made: unknown): TypeError {
  return new TypeError(
    `connect was given a function that returns ${isPromise(made) ? "a promise" : kindOf(made)}, not a channel`,
  );
}

/** A target that is a channel can be opened once. */
function cannotRedial({ method, why }: Spent): LocalError {
  const remedy = "give a function that makes channels, or require a revision of the handshake era";
  const message = `${why.message}; ${method} needs a fresh channel: ${remedy}`;
  return new LocalError(why.reason, message, { cause: why });
}
