import { LocalError } from "../jsonrpc/errors.js";

/** The server has turned a request away before it ran, because its conversation is over: in another one it can be made again. */
export class NotTaken extends LocalError {
  constructor(message: string, options?: ErrorOptions) {
    super("closed", message, options);
  }
}
