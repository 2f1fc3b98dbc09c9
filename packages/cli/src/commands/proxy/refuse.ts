import type { ServerResponse } from "node:http";

/** An error response of the proxy itself. */
export function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`parlance proxy: ${why}\n`);
}
