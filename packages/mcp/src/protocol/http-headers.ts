import { decodeBase64, encodeBase64 } from "../base/base64.js";
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

const prefix = "=?base64?";
const suffix = "?=";

/** A value that needs no encoding: empty, or visible ASCII with inner spaces only. */
const plain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/**
 * Encodes a text as the value of `Mcp-Name` or `Mcp-Param-…`. A text that is not valid in a header, or that looks
 * encoded, becomes `=?base64?…?=`.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http#value-encoding
 *
 * @example
 * encodeHeaderValue("Zürich"); // "=?base64?WsO8cmljaA==?="
 */
export function encodeHeaderValue(text: string): string {
  if (plain.test(text) && !(text.startsWith(prefix) && text.endsWith(suffix))) return text;
  return `${prefix}${encodeBase64(new TextEncoder().encode(text))}${suffix}`;
}

/**
 * Decodes a header value; undefined if it is marked as encoded but is not UTF-8 in base64.
 *
 * @example
 * decodeHeaderValue("=?base64?WsO8cmljaA==?="); // "Zürich"
 */
export function decodeHeaderValue(value: string): string | undefined {
  const isEncoded = value.length >= prefix.length + suffix.length && value.startsWith(prefix) && value.endsWith(suffix);
  if (!isEncoded) return value;
  const bytes = decodeBase64(value.slice(prefix.length, -suffix.length));
  try {
    return bytes === undefined ? undefined : utf8.decode(bytes);
  } catch {
    return undefined; // Not UTF-8.
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
