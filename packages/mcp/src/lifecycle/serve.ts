import type { Channel } from "../jsonrpc/channel.js";
import { type Connection, type ConnectionOptions, openConnection } from "../jsonrpc/connection.js";
import { toErrorObject } from "../jsonrpc/errors.js";
import type { Cancellation } from "../jsonrpc/inbound.js";
import type { Params } from "../jsonrpc/message.js";
import { mcpBatchProfile, mcpProfile, type Profile } from "../jsonrpc/profile.js";
import { termsOf } from "../jsonrpc/terms.js";
import { isObject } from "../protocol/json.js";
import { notifications } from "../protocol/methods.js";
import { isProgressToken } from "../protocol/progress.js";
import { methodAliases } from "../revisions/aliases.js";
import type { Revision } from "../revisions/revision.js";
import { Conversation } from "./conversation.js";
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

/** What can be set about the carrier of one client. */
export interface ServeOptions extends CarrierOptions {
  /** Whom the carrier has authenticated. */
  readonly principal?: string | undefined;
  /** Told the revision of a handshake before it is answered, for a carrier that differs by it. */
  readonly onAgreement?: (revision: Revision) => void;
}

/** How either side of MCP asks the other to stop. */
export const cancellation: Cancellation = { method: notifications.cancelled, idMember: "requestId" };

/** The progress token of a progress notification: the call that it belongs to. */
export function progressTag(method: string, params: Params | undefined): string | number | undefined {
  if (method !== notifications.progress || !isObject(params)) return undefined;
  return isProgressToken(params.progressToken) ? params.progressToken : undefined;
}

/** JSON-RPC as a revision has it. */
export function profileOf(revision: Revision): Profile {
  return revision.facts.batches ? mcpBatchProfile : mcpProfile;
}

/**
 * Serves one client on a channel, whichever revision it speaks. The server itself keeps nothing of the conversation,
 * so any number of channels may be served at the same time.
 */
export function serveChannel(served: Served, channel: Channel, options: ServeOptions = {}): Connection {
  const { lenient = false, onAgreement, ...carrier } = options;
  const { clock, report } = termsOf(carrier);
  const fault = (method: string, error: unknown): void => report({ kind: "fault", method, error });
  const conversation = new Conversation(
    served,
    { lenient },
    {
      agreed: (revision) => {
        connection.profile = profileOf(revision);
        onAgreement?.(revision);
      },
      clock,
      callback: (method, params, how) => connection.call(method, params, how),
      close: () => void connection.close(),
      notify: (method, params) => {
        try {
          connection.notify(method, params);
        } catch (error) {
          fault(method, error);
        }
      },
      drained: () => connection.drained(),
      failure: (method, thrown) => toErrorObject(thrown, carrier.mapError, (error) => fault(method, error)),
    },
  );
  const connection = openConnection(channel, {
    ...carrier,
    exactNumbers: served.exactNumbers === true,
    aliases: lenient ? methodAliases : undefined,
    profile: mcpProfile,
    handle: conversation.call,
    onNotification: conversation.notified,
    cancellation,
    relatedTo: progressTag,
  });
  void connection.closed.then(() => conversation.close());
  return connection;
}
