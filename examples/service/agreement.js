import { contentLength, lines } from "@parlance/mcp/jsonrpc";

// JSON-RPC says what a message is. These two things it leaves to the two ends, which must agree on them beforehand.

/** How messages lie in the stream: one on each line, or with `--content-length` behind a header that counts its bytes. */
export const framing = process.argv.includes("--content-length") ? contentLength : lines;

/** How one end tells the other that it does not need an answer any more. */
export const cancellation = { method: "$/cancelRequest", idMember: "id" };
