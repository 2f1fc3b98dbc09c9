import { LocalError } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import { notifications } from "../protocol/methods.js";
import type { ProgressParams } from "../protocol/progress.js";

/** What can be set about one request of a client. */
export interface VerbOptions extends Pick<CallOptions, "signal" | "timeout" | "totalTimeout"> {
  /** Receives the progress of the call, in order and before its result. The server is asked for progress only if it is there. */
  readonly onProgress?: (progress: ProgressParams) => void;
}

/** The same for the connection. */
export function callOptions({ onProgress, ...options }: VerbOptions): CallOptions {
  if (onProgress === undefined) return options;
  return {
    ...options,
    notify(method, params) {
      if (method === notifications.progress) onProgress(params as unknown as ProgressParams); // Its token has matched.
    },
  };
}

/** An answer that does not have the members that whoever asked looks at first. */
export function invalidAnswer(method: string, what: string): LocalError {
  return new LocalError("protocol", `${method}: the server's answer is invalid: ${what}`);
}
