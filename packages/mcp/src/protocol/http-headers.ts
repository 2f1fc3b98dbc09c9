import { methods } from "./methods.js";

/**
 * The headers of the protocol, as they are looked up: in lower case.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#standard-mcp-request-headers
 */
export const mcpHeaders = {
  /** The revision that is spoken. */
  protocolVersion: "mcp-protocol-version",
  /** The method of the message. */
  method: "mcp-method",
  /** What the method is applied to: see `namedBy`. */
  name: "mcp-name",
  /** The conversation, in the revisions that have those. */
  session: "mcp-session-id",
} as const;

/** The requests that carry `mcp-name`, and the member of their params that is in it. */
export const namedBy: ReadonlyMap<string, string> = new Map<string, string>([
  [methods.callTool, "name"],
  [methods.getPrompt, "name"],
  [methods.readResource, "uri"],
  // Those of the extension for tasks.
  [methods.getTask, "taskId"],
  ["tasks/update", "taskId"],
  [methods.cancelTask, "taskId"],
]);
