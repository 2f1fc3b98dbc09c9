import type { MembersOf } from "../base/members.js";
import type { Channel } from "../jsonrpc/channel.js";
import { type Connection, type ConnectionOptions, openConnection } from "../jsonrpc/connection.js";
import { guarded, reporterOf } from "../jsonrpc/hooks.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { mcpAskingProfile, mcpProfile } from "../jsonrpc/profile.js";
import type { Report } from "../jsonrpc/report.js";
import type { NotificationListener } from "../jsonrpc/routing.js";
import { notifications } from "../protocol/methods.js";
import { methodAliases } from "../revisions/aliases.js";
import type { Revision } from "../revisions/revision.js";
import { type Answering, answerRequests } from "./answering.js";
import { cancellation, nameOf, profileOf, progressTag } from "./mcp-connection.js";
import { type CarrierOptions, carrierMembers } from "./serve.js";

/** What can be set about a client's side of a carrier. */
export interface LineOptions extends CarrierOptions, Pick<ConnectionOptions, "exactNumbers"> {
  /** Takes what the server tells outside of calls. */
  readonly onNotification?: NotificationListener;
}

/** The members of `LineOptions`, for the check of options. */
export const lineMembers: MembersOf<LineOptions> = {
  ...carrierMembers,
  exactNumbers: [],
  onNotification: ["onnotification", "notifications"],
};

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
  const { lenient = false, onNotification = ignore, ...carrier } = options;
  const report = reporterOf(options.report);
  const over = new AbortController();
  let spoken: Revision | undefined;
  const connection = openConnection(channel, {
    ...carrier,
    aliases: lenient ? methodAliases : undefined,
    tolerance: lenient ? "accept" : "explain",
    limits: { ...clientLimits, ...carrier.limits },
    profile: mcpProfile,
    handle: answerRequests(answering, () => spoken),
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
