import type { ByteBudget } from "../base/byte-budget.js";
import { handled } from "../base/later.js";
import type { MembersOf } from "../base/members.js";
import type { Channel } from "../jsonrpc/channel.js";
import { type Connection, type ConnectionOptions, openConnection } from "../jsonrpc/connection.js";
import { guarded } from "../jsonrpc/hooks.js";
import type { Cancellation } from "../jsonrpc/inbound.js";
import { limitsMembers } from "../jsonrpc/limits.js";
import type { Params } from "../jsonrpc/message.js";
import type { Lossy } from "../jsonrpc/outbox.js";
import { mcpBatchProfile, mcpProfile, type Profile } from "../jsonrpc/profile.js";
import { faultOf } from "../jsonrpc/report.js";
import { toErrorObject } from "../jsonrpc/respond.js";
import { termsOf } from "../jsonrpc/terms.js";
import { isObject } from "../protocol/json.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { methods, notifications } from "../protocol/methods.js";
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

/**
 * How either side of MCP asks the other to stop. The receiver sends no response.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
 */
export const cancellation: Cancellation = { method: notifications.cancelled, idMember: "requestId", error: null };

/** Calls that stay open until somebody ends them. */
const lasting: ReadonlySet<string> = new Set([methods.listen]);

/** The progress token of a progress notification: the call that it belongs to. */
export function progressTag(method: string, params: Params | undefined): string | number | undefined {
  if (method !== notifications.progress || !isObject(params)) return undefined;
  return isProgressToken(params.progressToken) ? params.progressToken : undefined;
}

/** How a notification of MCP may be lost while it waits: of those that only the latest counts of, that is sent. */
export function lossyNotification(method: string, params: Params | undefined): Lossy | undefined {
  if (method === notifications.message) return {};
  const subject = latestCounts.get(method);
  if (subject === undefined) return undefined;
  const { [subject]: value, ...rest } = isObject(params) ? params : {};
  return { tells: `${method} ${String(value)} ${String(readMeta(rest)?.[metaKeys.subscriptionId])}` };
}

/** Notifications of which only the latest counts, with the member of their params that tells one from another. */
const latestCounts: ReadonlyMap<string, string> = new Map([
  [notifications.progress, "progressToken"],
  [notifications.resourceUpdated, "uri"],
  [notifications.taskStatus, "taskId"],
  [notifications.toolsChanged, ""],
  [notifications.promptsChanged, ""],
  [notifications.resourcesChanged, ""],
  [notifications.rootsChanged, ""],
]);

/** The tool, prompt, resource or completed argument that a request names. */
export function nameOf(_method: string, params: Params | undefined): string | undefined {
  if (!isObject(params)) return undefined;
  const named = isObject(params.ref) ? params.ref : params;
  return [named.name, named.uri].find((each) => typeof each === "string");
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
  const { clock, report, budget } = termsOf(carrier);
  const fault = (method: string, error: unknown, params?: Params): void =>
    report(faultOf(method, error, nameOf(method, params)));
  const conversation = new Conversation(
    served,
    { lenient },
    {
      agreed: (revision) => {
        connection.profile = profileOf(revision);
        guarded("onAgreement", () => onAgreement?.(revision), report);
      },
      clock,
      budget,
      callback: (method, params, how) => handled(connection.call(method, params, how)),
      report,
      close: () => void connection.close(),
      notify: (method, params) => {
        try {
          connection.notify(method, params);
        } catch (error) {
          fault(method, error);
        }
      },
      drained: () => connection.drained(),
      failure: (method, thrown, params) =>
        toErrorObject(thrown, carrier.mapError, (error) => fault(method, error, params)),
    },
  );
  const connection = openConnection(channel, {
    ...carrier,
    budget,
    lasting,
    exactNumbers: served.exactNumbers === true,
    aliases: lenient ? methodAliases : undefined,
    profile: mcpProfile,
    handle: conversation.call,
    onNotification: conversation.notified,
    cancellation,
    relatedTo: progressTag,
    lossy: lossyNotification,
    nameOf,
  });
  void connection.closed.then(() => conversation.close());
  return connection;
}
