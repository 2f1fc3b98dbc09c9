import { contentLength, lines } from "@parlance/mcp/jsonrpc";

// JSON-RPC says what a message is. These things it leaves to the two ends, which must agree on them beforehand.

/** How messages get from one end to the other: by lines on stdin and stdout, unless a flag says otherwise. */
export const way =
  ["content-length", "websocket", "http"].find((each) => process.argv.includes(`--${each}`)) ?? "lines";

/** How they lie in a stream: one on each line, or behind a header that counts their bytes. */
export const framing = way === "content-length" ? contentLength : lines;

/** How one end tells the other that it does not need an answer any more. */
export const cancellation = { method: "$/cancelRequest", idMember: "id" };

/** What a WebSocket is told that it is for. */
export const protocol = "jsonrpc";
