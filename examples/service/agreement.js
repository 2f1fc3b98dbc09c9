import { contentLength, lines, lspCancellation } from "@parlance/mcp/jsonrpc";

// JSON-RPC says what a message is. These things it leaves to the two ends, which must agree on them beforehand.

/** How messages get from one end to the other: by lines on stdin and stdout, unless a flag says otherwise. */
export const way =
  ["content-length", "websocket", "http"].find((each) => process.argv.includes(`--${each}`)) ?? "lines";

/** How they lie in a stream: one on each line, or behind a header that counts their bytes. */
export const framing = way === "content-length" ? contentLength : lines;

/**
 * How one end tells the other that it needs no answer any more. As it stands, `lspCancellation` answers such a request with
 * −32800; here it is not answered, because a client that hangs up an HTTP request could not read the answer.
 */
export const cancellation = { ...lspCancellation, error: null };

/** The subprotocol of the WebSocket. */
export const protocol = "jsonrpc";
