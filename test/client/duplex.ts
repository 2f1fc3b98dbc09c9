import type { Client } from "@parlance/mcp/client";
import { Connection } from "@parlance/mcp/jsonrpc";

/** The connection of a client on a duplex transport. */
export function duplexOf({ connection }: Client): Connection {
  if (connection instanceof Connection) return connection;
  throw new Error("the client is not on a duplex transport");
}
