import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { callMembers } from "../../jsonrpc/calls/caller.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { inHook } from "../../jsonrpc/hooks.js";
import { notifications } from "../../protocol/methods.js";
import type { ProgressParams } from "../../protocol/types/progress.js";
import type { InputHandlers } from "../input/input-handlers.js";
import type { SessionCall, SessionCallOptions } from "../session/client-session.js";
import type { ReconnectingSession } from "../session/reconnecting-session.js";
import type { Subscribe } from "../subscriptions/subscription.js";
import type { ListedTools } from "./listed-tools.js";

/** The parts of a client that its verbs use. */
export interface ClientParts {
  readonly session: ReconnectingSession;
  /** Calls the server: checks advertised capabilities, handles input requests, and uses the cache. */
  readonly call: SessionCall;
  readonly handlers: InputHandlers;
  /** Whether to accept results that break a rule. */
  readonly lenient: boolean;
  readonly listed: ListedTools;
  readonly subscribe: Subscribe;
}

/** Options of one client call. */
export interface ClientCallOptions
  extends Pick<SessionCallOptions, "signal" | "timeout" | "totalTimeout" | "unadvertised"> {
  /**
   * Receives the progress of the call, in order and before its result: `progress`, `total`, `message`, and the
   * `progressToken` that the client chose. Without it the client requests no progress.
   */
  readonly onProgress?: (progress: ProgressParams) => unknown;
}

const { signal, timeout, totalTimeout } = callMembers;

/** The members of `ClientCallOptions`, to detect unknown options. */
export const verbMembers: MembersOf<ClientCallOptions> = {
  signal,
  timeout,
  totalTimeout,
  unadvertised: ["boolean"],
  onProgress: ["function", "onprogress", "progress"],
};

/** The options of a call as the session takes them. @throws TypeError for an unknown option */
export function callOptions(given: ClientCallOptions): SessionCallOptions {
  checkMembers("The options of a call", given, verbMembers);
  const { onProgress, ...options } = given;
  if (onProgress === undefined) return options;
  return {
    ...options,
    notify(method, params) {
      if (method !== notifications.progress) return undefined;
      return inHook("onProgress", () => onProgress(params as unknown as ProgressParams)); // Its progress token matched.
    },
  };
}

/** The error for a result without its required members. */
export function invalidResult(method: string, what: string): LocalError {
  return new LocalError("protocol", `${method}: the server's answer is invalid: ${what}`);
}
