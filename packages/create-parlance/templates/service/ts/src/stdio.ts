import { openConnection } from "@parlance/mcp/jsonrpc";
import { stdioChannel } from "@parlance/mcp/node";
import { service } from "./service.ts";

// Serves one client on stdin and stdout, one message a line. Write logs to stderr: stdout belongs to the protocol.
const connection = openConnection(stdioChannel(), { handle: service.call });
await connection.closed;
