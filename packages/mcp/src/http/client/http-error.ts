import { LocalError } from "../../jsonrpc/errors.js";

/** The server rejected a request with an HTTP status, without a JSON-RPC error. */
export class HttpError extends LocalError {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super("protocol", message, options);
    this.status = status;
  }
}

/** The HTTP status of an error or of its cause; undefined if there is none. */
export function statusOf(error: unknown): number | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof HttpError) return each.status;
  }
  return undefined;
}
