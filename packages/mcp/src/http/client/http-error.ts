import { LocalError } from "../../jsonrpc/errors.js";

/** The server has answered with a status that refuses the request, and said nothing in the words of the protocol. */
export class HttpError extends LocalError {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super("protocol", message, options);
    this.status = status;
  }
}

/** The status of an error of the server, or of what has caused it; undefined where no status was refused. */
export function statusOf(error: unknown): number | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof HttpError) return each.status;
  }
  return undefined;
}
