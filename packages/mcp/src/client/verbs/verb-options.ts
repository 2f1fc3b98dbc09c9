import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { callMembers } from "../../jsonrpc/calls/caller.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { inHook } from "../../jsonrpc/hooks.js";
import { notifications } from "../../protocol/methods.js";
import type { ProgressParams } from "../../protocol/types/progress.js";
import type { SessionCallOptions } from "../session/client-session.js";

/** Options of one client call. */
export interface ClientCallOptions
  extends Pick<SessionCallOptions, "signal" | "timeout" | "totalTimeout" | "unadvertised"> {
  /** Receives the progress of the call, in order and before its result. The server is asked for progress only if it is there. */
  readonly onProgress?: (progress: ProgressParams) => unknown;
}

const { signal, timeout, totalTimeout } = callMembers;

const verbMembers: MembersOf<ClientCallOptions> = {
  signal,
  timeout,
  totalTimeout,
  unadvertised: [],
  onProgress: ["onprogress", "progress"],
};

/** The same for the connection. */
export function callOptions(given: ClientCallOptions): SessionCallOptions {
  checkMembers("The options of a call", given, verbMembers);
  const { onProgress, ...options } = given;
  if (onProgress === undefined) return options;
  return {
    ...options,
    notify(method, params) {
      if (method !== notifications.progress) return undefined;
      return inHook("onProgress", () => onProgress(params as unknown as ProgressParams)); // Its token has matched.
    },
  };
}

/** An answer that does not have the members that whoever asked looks at first. */
export function invalidResult(method: string, what: string): LocalError {
  return new LocalError("protocol", `${method}: the server's answer is invalid: ${what}`);
}
