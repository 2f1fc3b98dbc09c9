import { methods } from "./methods.js";

/**
 * The HTTP headers of MCP, in lower case.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#standard-mcp-request-headers
 */
export const mcpHeaders = {
  /** The protocol revision. */
  protocolVersion: "mcp-protocol-version",
  /** The method of the message. */
  method: "mcp-method",
  /** The object of the method, such as the tool's name; see `namedBy`. */
  name: "mcp-name",
  /** The session id, in revisions with HTTP sessions. */
  session: "mcp-session-id",
} as const;

/** The requests with an `mcp-name` header, and the member of their params that it repeats. */
export const namedBy: ReadonlyMap<string, string> = new Map<string, string>([
  [methods.callTool, "name"],
  [methods.getPrompt, "name"],
  [methods.readResource, "uri"],
  // Requests of the tasks extension.
  [methods.getTask, "taskId"],
  ["tasks/update", "taskId"],
  [methods.cancelTask, "taskId"],
]);
