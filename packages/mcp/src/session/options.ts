import type { MembersOf } from "../base/check-members.js";
import type { ConnectionOptions } from "../jsonrpc/connection.js";
import { limitsMembers } from "../jsonrpc/limits.js";

/** Options of a transport, for servers and clients. */
export interface TransportOptions
  extends Pick<ConnectionOptions, "limits" | "report" | "clock" | "mapError" | "timeout" | "totalTimeout"> {
  /**
   * Whether to accept the loose names of tutorials and of other protocols (`initialized`, `$/cancelRequest`, `resources/get`, version
   * 0.1.0, …) for what they stand for. They are never sent. Default: false, they are unknown.
   */
  readonly lenient?: boolean;
}

/** The members of `TransportOptions`, for the check of options. */
export const transportMembers: MembersOf<TransportOptions> = {
  limits: limitsMembers,
  report: ["function", "reporter", "logger", "log", "onerror", "onError"],
  clock: ["object"],
  mapError: ["function"],
  timeout: ["number", "timeoutMs"],
  totalTimeout: ["number", "maxTotalTimeout"],
  lenient: ["boolean", "loose", "strict"],
};
