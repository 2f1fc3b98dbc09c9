import type { Call } from "../jsonrpc/call.js";
import type { Channel } from "../jsonrpc/channel.js";
import { type Connection, openConnection } from "../jsonrpc/connection.js";
import { LocalError, methodNotFound } from "../jsonrpc/errors.js";
import type { NotificationListener } from "../jsonrpc/inbound.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { mcpProfile } from "../jsonrpc/profile.js";
import { methods } from "../protocol/methods.js";
import { latest, latestHandshake } from "../revisions/all.js";
import type { Revision } from "../revisions/revision.js";
import { openHandshake } from "./handshake-client.js";
import type { ClientIdentity, Opened } from "./opened.js";
import { probe } from "./probe.js";
import { type CarrierOptions, cancellation, profileOf, progressTag } from "./serve.js";
import { openStateless } from "./stateless-client.js";

/** Makes a carrier to the server. Called again if the first one did not survive the probe. */
export type Dial = () => Channel;

export interface OpenOptions extends CarrierOptions {
  readonly identity: ClientIdentity;
  /** Speak this revision or fail. Default: the newest that both sides speak. */
  readonly revision?: Revision;
  /** Milliseconds to wait for the answer to the probe; a server of the handshake era may never give one. Default: 5,000. */
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
  const { revision } = options;
  const connection = connectTo(dial, options);
  try {
    if (revision?.era === "handshake") return await handshake(connection, options);
    const verdict = await probe(connection, options.identity, revision ?? latest, options.probeTimeout ?? 5_000);
    if (verdict.era === "stateless") {
      const opened = openStateless(connection, verdict.call, verdict.revision, verdict.discovered);
      return { ...opened, connection };
    }
    if (revision !== undefined) throw new LocalError("protocol", `the server does not speak ${revision.version}`);
    if (verdict.answered) return await handshake(connection, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
  await connection.close();
  return redial(dial, options);
}

async function redial(dial: Dial, options: OpenOptions): Promise<OpenedOnChannel> {
  const connection = connectTo(dial, options);
  try {
    return await handshake(connection, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function handshake(
  connection: Connection,
  { identity, revision, timeout }: OpenOptions,
): Promise<OpenedOnChannel> {
  const opened = await openHandshake(connection, identity, {
    revision: revision ?? latestHandshake,
    ...(timeout === undefined ? {} : { timeout }),
    onAgreement: (agreed) => {
      connection.profile = profileOf(agreed);
    },
  });
  if (revision !== undefined && opened.revision !== revision) {
    throw new LocalError(
      "protocol",
      `the server does not speak ${revision.version}, it offers ${opened.revision.version}`,
    );
  }
  return { ...opened, connection };
}

function connectTo(dial: Dial, { identity: _identity, revision: _revision, ...options }: OpenOptions): Connection {
  const { probeTimeout: _probeTimeout, ...carrier } = options;
  return openConnection(dial(), {
    ...carrier,
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
