import type { ByteBudget } from "../base/byte-budget.js";
import type { MembersOf } from "../base/members.js";
import type { Channel } from "../jsonrpc/channel.js";
import { type Connection, type ConnectionOptions, openConnection } from "../jsonrpc/connection.js";
import { limitsMembers, serverLimits } from "../jsonrpc/limits.js";
import { mcpProfile } from "../jsonrpc/profile.js";
import { budgetOf } from "../jsonrpc/terms.js";
import { methods } from "../protocol/methods.js";
import { methodAliases } from "../revisions/aliases.js";
import type { Revision } from "../revisions/revision.js";
import { Conversation } from "./conversation.js";
import { cancellation, lossyNotification, nameOf, progressTag } from "./mcp-connection.js";
import type { Served } from "./served.js";

/** What can be set about a carrier of a conversation. */
export interface CarrierOptions
  extends Pick<ConnectionOptions, "limits" | "report" | "clock" | "mapError" | "timeout" | "totalTimeout"> {
  /**
   * Take the loose names of tutorials and of other protocols (`initialized`, `$/cancelRequest`, `resources/get`, version
   * 0.1.0, …) for what they stand for. They are never sent. Default: false, they are unknown.
   */
  readonly lenient?: boolean;
}

/** The members of `CarrierOptions`, for the check of options. */
export const carrierMembers: MembersOf<CarrierOptions> = {
  limits: limitsMembers,
  report: ["reporter", "logger", "log", "onerror", "onError"],
  clock: [],
  mapError: [],
  timeout: ["timeoutMs"],
  totalTimeout: ["maxTotalTimeout"],
  lenient: ["loose", "strict"],
};

/** What can be set about the carrier of one client. */
export interface ServeOptions extends CarrierOptions {
  /** Whom the carrier has authenticated. */
  readonly principal?: string | undefined;
  /** What the limits of the client are counted by, where it has other connections. */
  readonly peer?: string | undefined;
  /** Bounds the bytes that are kept for the client. Default: one of its own, of `limits.peerBytes`. */
  readonly budget?: ByteBudget | undefined;
  /** Told the revision of a handshake before it is answered, for a carrier that differs by it. */
  readonly onAgreement?: (revision: Revision) => void;
}

/** The members of `ServeOptions`, for the check of options. */
export const serveMembers: MembersOf<ServeOptions> = {
  ...carrierMembers,
  principal: [],
  peer: [],
  budget: [],
  onAgreement: [],
};

/** Calls that stay open until somebody ends them. */
const lasting: ReadonlySet<string> = new Set([methods.listen]);

/**
 * Serves one client on a channel, whichever revision it speaks. The server itself keeps nothing of the conversation,
 * so any number of channels may be served at the same time.
 */
export function serveChannel(served: Served, channel: Channel, options: ServeOptions = {}): Connection {
  const { lenient = false, onAgreement, ...settings } = options;
  const budget = settings.budget ?? budgetOf({ ...serverLimits, ...settings.limits });
  const connect = ({ call, notified }: Conversation): Connection =>
    openConnection(channel, {
      ...settings,
      budget,
      lasting,
      exactNumbers: served.exactNumbers === true,
      aliases: lenient ? methodAliases : undefined,
      profile: mcpProfile,
      handle: call,
      onNotification: notified,
      cancellation,
      relatedTo: progressTag,
      lossy: lossyNotification,
      nameOf,
    });
  return new Conversation(served, { lenient, budget, onAgreement }, connect).connection;
}
