import type { Channel } from "../jsonrpc/channel.js";
import { type Connection, type ConnectionOptions, openConnection } from "../jsonrpc/connection.js";
import type { NotificationListener } from "../jsonrpc/inbound.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { mcpAskingProfile, mcpProfile } from "../jsonrpc/profile.js";
import type { Report } from "../jsonrpc/report.js";
import { notifications } from "../protocol/methods.js";
import { methodAliases } from "../revisions/aliases.js";
import type { Revision } from "../revisions/revision.js";
import { type Answering, answerRequests } from "./answering.js";
import { type CarrierOptions, cancellation, profileOf, progressTag } from "./serve.js";

/** What can be set about a client's side of a carrier. */
export interface LineOptions extends CarrierOptions, Pick<ConnectionOptions, "exactNumbers"> {
  /** Takes what the server tells outside of calls. */
  readonly onNotification?: NotificationListener;
}

/** A connection to a server, and what a client has beside it. */
export interface Line {
  readonly connection: Connection;
  /** Aborted when the conversation is over. */
  readonly over: AbortSignal;
  /** The peers have settled on a revision. */
  agreed(revision: Revision): void;
  /** Ends the conversation; resolves when its carrier is gone. */
  close(): Promise<void>;
}

/** Puts a client on a channel. Nothing is sent yet. */
export function lineOn(channel: Channel, answering: Answering, options: LineOptions): Line {
  const { lenient = false, onNotification = ignore, report, ...carrier } = options;
  const over = new AbortController();
  let spoken: Revision | undefined;
  const connection = openConnection(channel, {
    ...carrier,
    aliases: lenient ? methodAliases : undefined,
    limits: { ...clientLimits, ...carrier.limits },
    profile: mcpProfile,
    handle: answerRequests(answering, () => spoken),
    onNotification,
    report(each) {
      if (spoken?.era === "stateless" && endsSubscription(each)) {
        onNotification(notifications.cancelled, { requestId: each.id });
      } else report?.(each);
    },
    cancellation,
    relatedTo: progressTag,
    answersUnreadable: false,
  });
  void connection.closed.then(() => over.abort());
  return {
    connection,
    over: over.signal,
    agreed(revision) {
      spoken = revision;
      connection.profile = revision.era === "stateless" ? mcpAskingProfile : profileOf(revision);
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
