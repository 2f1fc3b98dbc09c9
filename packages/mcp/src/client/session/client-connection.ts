import type { MembersOf } from "../../base/check-members.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { type Connection, type ConnectionOptions, openConnection } from "../../jsonrpc/connection.js";
import { guarded, reporterOf } from "../../jsonrpc/hooks.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { mcpProfile, mcpRequestingProfile } from "../../jsonrpc/profile.js";
import type { Report } from "../../jsonrpc/report.js";
import type { NotificationListener } from "../../jsonrpc/routing.js";
import { notifications } from "../../protocol/methods.js";
import { methodAliases } from "../../protocol/revisions/aliases.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import { cancellation, nameOf, profileOf, progressTag } from "../../session/mcp-connection.js";
import { type TransportOptions, transportMembers } from "../../session/options.js";
import { type InputResponder, respondToServer } from "../input/input-responder.js";

/** Options of a client connection. */
export interface ClientConnectionOptions extends TransportOptions, Pick<ConnectionOptions, "exactNumbers"> {
  /** Receives server notifications that belong to no call. */
  readonly onNotification?: NotificationListener;
}

/** The members of `LineOptions`, for the check of options. */
export const clientConnectionMembers: MembersOf<ClientConnectionOptions> = {
  ...transportMembers,
  exactNumbers: [],
  onNotification: ["onnotification", "notifications"],
};

/** The connection of a client to its server. */
export interface ClientConnection {
  readonly connection: Connection;
  /** Aborted when the session ends. */
  readonly ended: AbortSignal;
  /** The peers have negotiated a revision. */
  negotiated(revision: Revision): void;
  /** Closes the session; resolves when its connection is closed. */
  close(): Promise<void>;
}

/** Opens a client connection on a channel. Sends nothing yet. */
export function openClientConnection(
  channel: Channel,
  responder: InputResponder,
  options: ClientConnectionOptions,
): ClientConnection {
  const { lenient = false, onNotification = ignore, ...transport } = options;
  const report = reporterOf(options.report);
  const over = new AbortController();
  let spoken: Revision | undefined;
  const connection = openConnection(channel, {
    ...transport,
    aliases: lenient ? methodAliases : undefined,
    tolerance: lenient ? "accept" : "explain",
    limits: { ...clientLimits, ...transport.limits },
    profile: mcpProfile,
    handle: respondToServer(responder, () => spoken),
    onNotification,
    report(each) {
      if (spoken?.era === "stateless" && endsSubscription(each)) {
        guarded("onNotification", () => onNotification(notifications.cancelled, { requestId: each.id }), report);
      } else report(each);
    },
    nameOf,
    cancellation,
    relatedTo: progressTag,
    answersUnreadable: false,
  });
  void connection.closed.then(() => over.abort());
  return {
    connection,
    ended: over.signal,
    negotiated(revision) {
      spoken = revision;
      connection.profile = revision.era === "stateless" ? mcpRequestingProfile : profileOf(revision);
    },
    close() {
      over.abort();
      return connection.close();
    },
  };
}

/**
 * In the stateless era a server sends no requests, so it cancels none: what it names is the subscription that it ends.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/cancellation
 */
function endsSubscription(report: Report): report is Extract<Report, { kind: "unknown-cancel" }> {
  return report.kind === "unknown-cancel";
}

const ignore: NotificationListener = () => undefined;
