import type { ByteBudget } from "../../base/byte-budget.js";
import type { MembersOf } from "../../base/check-members.js";
import type { Authentication } from "../../jsonrpc/call.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { type Connection, openConnection } from "../../jsonrpc/connection.js";
import { serverLimits } from "../../jsonrpc/limits.js";
import { budgetOf } from "../../jsonrpc/peer-settings.js";
import { mcpProfile } from "../../jsonrpc/profile.js";
import { methods } from "../../protocol/methods.js";
import { methodAliases } from "../../protocol/revisions/aliases.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import { cancellation, lossyNotification, nameOf, progressTag } from "../../session/mcp-connection.js";
import { type TransportOptions, transportMembers } from "../../session/options.js";
import type { Servable } from "../servable.js";
import { ServerSession, type SessionHost } from "./server-session.js";

/** Options of serving one client. */
export interface ServeOptions extends TransportOptions {
  /** The client, as its transport has authenticated it. Default: undefined, a local client. */
  readonly auth?: Authentication;
  /** The key that limits of the client are counted by, across its connections. Default: none. */
  readonly peer?: string | undefined;
  /** Bounds the bytes that are kept for the client. Default: one of its own, of `limits.peerBytes`. */
  readonly budget?: ByteBudget | undefined;
  /** Called with the negotiated revision before the response to `initialize` is sent. Default: none. */
  readonly onNegotiated?: (revision: Revision) => void;
}

/** The members of `ServeOptions`, for the check of options. */
export const serveMembers: MembersOf<ServeOptions> = {
  ...transportMembers,
  auth: ["any", "principal", "identity"],
  peer: ["string"],
  budget: ["object"],
  onNegotiated: ["function"],
};

/** Methods whose calls stay open until one side ends them. */
const longLived: ReadonlySet<string> = new Set([methods.listen]);

/**
 * Serves one client on a channel, in any revision. The server keeps no state of the session, so it can serve any number of
 * channels at the same time.
 */
export function serveChannel(served: Servable, channel: Channel, options: ServeOptions = {}): Connection {
  const { onNegotiated, budget = budgetOf({ ...serverLimits, ...options.limits }), ...transport } = options;
  const host: SessionHost = {
    lenient: transport.lenient ?? false,
    budget,
    connect: (session) => openSessionConnection(served, session, channel, transport),
    negotiated: (revision) => onNegotiated?.(revision),
  };
  return new ServerSession(served, host).connection;
}

/** Opens a connection for a session. */
export function openSessionConnection(
  served: Servable,
  session: ServerSession,
  channel: Channel,
  { lenient = false, ...transport }: Omit<ServeOptions, "budget" | "onNegotiated">,
): Connection {
  return openConnection(channel, {
    budget: session.budget,
    longLived,
    exactNumbers: served.exactNumbers === true,
    aliases: lenient ? methodAliases : undefined,
    profile: mcpProfile,
    handle: session.call.bind(session),
    onNotification: session.notified.bind(session),
    cancellation,
    relatedTo: progressTag,
    lossy: lossyNotification,
    nameOf,
    // Options of the transport, none of them one of the above. Last, so that the objects of all sessions share a hidden class.
    ...transport,
  });
}
