/** The settings that the MCP contestants need before they serve. */

const identity = { name: "bench", version: "1.0.0" };

/** The identity of every MCP server here. */
export const serverInfo = identity;

/** The revision without a handshake, the newest one with it, and the one before that. */
export const statelessVersion = "2026-07-28";
export const newestHandshake = "2025-11-25";
export const earlierHandshake = "2025-06-18";

/**
 * Opens a conversation of a handshake revision.
 * @param {string} protocolVersion the newest one that the contestant speaks
 */
export const initialize = (protocolVersion) => ({
  jsonrpc: /** @type {const} */ ("2.0"),
  id: 0,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: identity },
});

/** Ends the handshake. */
export const initialized = { jsonrpc: /** @type {const} */ ("2.0"), method: "notifications/initialized" };

/** The members that the stateless revision adds to every request and to every result. */
export const stateless = {
  requestMeta: {
    "io.modelcontextprotocol/protocolVersion": statelessVersion,
    "io.modelcontextprotocol/clientInfo": identity,
    "io.modelcontextprotocol/clientCapabilities": {},
  },
  resultMembers: {
    resultType: "complete",
    _meta: { "io.modelcontextprotocol/serverInfo": identity },
  },
};
