import type { MembersOf } from "../../base/check-members.js";
import { isObject } from "../../base/json.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { type Connection, type ConnectionOptions, openConnection } from "../../jsonrpc/connection.js";
import { methodNotFound } from "../../jsonrpc/errors.js";
import { guarded, reporterOf } from "../../jsonrpc/hooks.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { mcpProfile, mcpRequestingProfile } from "../../jsonrpc/profile.js";
import type { NotificationListener } from "../../jsonrpc/routing.js";
import { methods, notifications } from "../../protocol/methods.js";
import { methodAliases } from "../../protocol/revisions/aliases.js";
import { isProtocolMethod } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import { cancellation, nameOf, profileOf, progressTag } from "../../session/mcp-connection.js";
import { type TransportOptions, transportMembers } from "../../session/options.js";
import type { InputResponder, SessionTransport } from "./client-session.js";

/** Options of a client connection. */
export interface ClientConnectionOptions extends TransportOptions, Pick<ConnectionOptions, "exactNumbers"> {
  /** Receives server notifications that belong to no call. Default: none. */
  readonly onNotification?: NotificationListener;
}

/** The members of `ClientConnectionOptions`, to detect unknown options. */
export const clientConnectionMembers: MembersOf<ClientConnectionOptions> = {
  ...transportMembers,
  exactNumbers: ["boolean"],
  onNotification: ["any", "onnotification", "notifications"],
};

/** The connection of a client to its server. */
export interface ClientConnection extends SessionTransport {
  readonly connection: Connection;
  /** Records the negotiated revision. */
  negotiated(revision: Revision): void;
}

/** Opens a client connection on a channel. Sends nothing yet. */
export function openClientConnection(
  channel: Channel,
  responder: InputResponder,
  options: ClientConnectionOptions,
): ClientConnection {
  const { lenient = false, onNotification = () => undefined, ...transport } = options;
  const report = reporterOf(options.report);
  const ended = new AbortController();
  let revision: Revision | undefined;
  const connection = openConnection(channel, {
    ...transport,
    aliases: lenient ? methodAliases : undefined,
    tolerance: lenient ? "accept" : "explain",
    limits: { ...clientLimits, ...transport.limits },
    profile: mcpProfile,
    // Requests of a server in the handshake era; in the stateless era a client responds to none.
    handle(method, params, { signal }) {
      if (method === methods.ping) return {};
      const spoken = revision; // Before a revision is negotiated, only `ping` is handled.
      const exists = spoken?.requests.server.has(method) === true || !isProtocolMethod(method);
      if (spoken === undefined || !exists) throw methodNotFound(method);
      const respond = responder.accept(method, spoken.up("params", method, isObject(params) ? params : {}), spoken);
      // The calls that a user is asked about may take as long as the user does.
      const answer = connection.whilePeerWaits(respond(signal), signal);
      return answer.then((response) => spoken.down("result", method, response));
    },
    onNotification: (method, params) =>
      onNotification(method, revision === undefined ? params : revision.up("notification", method, params)),
    report(each) {
      // A stateless server sends no requests, so it has none to cancel: its cancellation names the subscription that it ends.
      // https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/cancellation
      if (revision?.era === "stateless" && each.kind === "unknown-cancel") {
        guarded("onNotification", () => onNotification(notifications.cancelled, { requestId: each.id }), report);
      } else report(each);
    },
    nameOf,
    cancellation,
    relatedTo: progressTag,
    answersUnreadable: false,
  });
  void connection.closed.then(() => ended.abort());
  return {
    connection,
    ended: ended.signal,
    negotiated(negotiated) {
      revision = negotiated;
      connection.profile = revision.era === "stateless" ? mcpRequestingProfile : profileOf(revision);
    },
    close() {
      ended.abort();
      return connection.close();
    },
  };
}
