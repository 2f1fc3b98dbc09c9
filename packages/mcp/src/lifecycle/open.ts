import type { Call } from "../jsonrpc/call.js";
import type { Channel } from "../jsonrpc/channel.js";
import { type Connection, openConnection } from "../jsonrpc/connection.js";
import { LocalError, methodNotFound } from "../jsonrpc/errors.js";
import type { NotificationListener } from "../jsonrpc/inbound.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { mcpProfile } from "../jsonrpc/profile.js";
import { methods } from "../protocol/methods.js";
import { methodAliases } from "../revisions/aliases.js";
import { latest, latestHandshake } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { openHandshake } from "./handshake-client.js";
import type { ClientIdentity, Opened } from "./opened.js";
import { probe } from "./probe.js";
import { type CarrierOptions, cancellation, profileOf, progressTag } from "./serve.js";
import { openStateless } from "./stateless-client.js";

/** Milliseconds: a server that is slower to start than this is rare, and a person waits. */
const defaultProbeTimeout = 5_000;

/** Makes a carrier to the server. Called again if the first one did not survive the probe. */
export type Dial = () => Channel;

export interface OpenOptions extends CarrierOptions {
  readonly identity: ClientIdentity;
  /** Speak this revision or fail. Default: the newest that both sides speak. */
  readonly revision?: Revision;
  /**
   * Milliseconds to wait for the answer to the probe; a server of the handshake era may never give one. Default: 5,000,
   * or `timeout` if that is shorter.
   */
  readonly probeTimeout?: number;
  /** Takes what the server tells. */
  readonly onNotification?: NotificationListener;
}

/** An open conversation and the connection that carries it. */
export interface OpenedOnChannel extends Opened {
  readonly connection: Connection;
}

/** Opens a conversation on a duplex carrier, in the era that the server speaks. On failure no carrier is left behind. */
export async function openOnChannel(dial: Dial, options: OpenOptions): Promise<OpenedOnChannel> {
  const channel = dial();
  const connection = connectTo(channel, options);
  const opened = await closedOnFailure(connection, open(connection, options));
  if (!("spent" in opened)) return opened;
  await connection.close();
  const fresh = dial();
  if (fresh === channel) throw cannotRedial(opened.spent);
  const anew = connectTo(fresh, options);
  return closedOnFailure(anew, handshake(anew, options));
}

/** The carrier has not survived the question which era the server speaks, and why. */
interface Spent {
  readonly spent: LocalError;
}

async function open(connection: Connection, options: OpenOptions): Promise<OpenedOnChannel | Spent> {
  const { identity, revision, timeout = defaultProbeTimeout } = options;
  if (revision?.era === "handshake") return handshake(connection, options);
  const { probeTimeout = Math.min(defaultProbeTimeout, timeout) } = options;
  const verdict = await probe(connection, identity, revision ?? latest, probeTimeout);
  if (verdict.era === "stateless") {
    insist(revision, verdict.revision);
    return { ...openStateless(connection, verdict.call, verdict.revision, verdict.discovered), connection };
  }
  const { answered, why } = verdict;
  if (revision !== undefined) throw answered ? notSpoken(revision, why.message) : why;
  return answered ? handshake(connection, options) : { spent: why };
}

async function handshake(connection: Connection, options: OpenOptions): Promise<OpenedOnChannel> {
  const { identity, revision, timeout } = options;
  const opened = await openHandshake(connection, identity, {
    revision: revision ?? latestHandshake,
    ...(timeout === undefined ? {} : { timeout }),
    onAgreement: (agreed) => {
      connection.profile = profileOf(agreed);
    },
  });
  insist(revision, opened.revision);
  return { ...opened, connection };
}

async function closedOnFailure<T>(connection: Connection, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function insist(wanted: Revision | undefined, offered: Revision): void {
  if (wanted !== undefined && wanted !== offered) throw notSpoken(wanted, `it offers ${offered.version}`);
}

function notSpoken({ version }: Revision, why: string): LocalError {
  return new LocalError("protocol", `the server does not speak ${version}: ${why}`);
}

/** A target that is a channel can be opened once. */
function cannotRedial(spent: LocalError): LocalError {
  const remedy = "give a function that makes channels, or insist on a revision of the handshake era";
  return new LocalError(spent.reason, `${spent.message}; initialize needs a fresh channel: ${remedy}`, {
    cause: spent,
  });
}

function connectTo(
  channel: Channel,
  { identity: _identity, revision: _revision, ...options }: OpenOptions,
): Connection {
  const { probeTimeout: _probeTimeout, lenient = false, ...carrier } = options;
  return openConnection(channel, {
    ...carrier,
    aliases: lenient ? methodAliases : undefined,
    limits: { ...clientLimits, ...carrier.limits },
    profile: mcpProfile,
    handle: answerServer,
    onNotification: options.onNotification ?? ignore,
    cancellation,
    relatedTo: progressTag,
    answersUnreadable: false,
  });
}

/** A client that has declared no capability is asked for nothing but a sign of life. */
const answerServer: Call = (method) => {
  if (method === methods.ping) return {};
  throw methodNotFound(method);
};

const ignore: NotificationListener = () => undefined;
