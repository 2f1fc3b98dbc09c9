import { LocalError } from "../../jsonrpc/errors.js";

/** The session expired before the request ran; it is safe to retry it in a new session. */
export class SessionExpired extends LocalError {
  constructor(message: string, options?: ErrorOptions) {
    super("closed", message, options);
  }
}
