import { initialize, modern, ping, request, stateless, success } from "../../../testing/frames.js";
import { type Asked, sessionPost, statelessPost } from "../asked.js";
import type { Row } from "./row.js";

const post = (body: string | Uint8Array, headers: Asked["headers"] = {}): Asked => ({ body, headers });
const notUtf8 = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', "latin1");

/** Bodies that are no message, or none that may stand there. */
export const bodyRows: readonly Row[] = [
  { name: "no body", asked: post(""), status: 400, code: -32_700 },
  { name: "half a message", asked: post('{"jsonrpc":"2.0","id":1'), status: 400, code: -32_700 },
  { name: "two messages", asked: post(`${ping}\n${ping}`), status: 400, code: -32_700 },
  { name: "a byte order mark", asked: post(`\uFEFF${ping}`), status: 400, code: -32_700 },
  { name: "not UTF-8", asked: post(notUtf8), status: 400, code: -32_600, says: "the body is not UTF-8" },
  {
    name: "UTF-8 that ends within a character",
    asked: post(Buffer.concat([Buffer.from(ping), Buffer.from([0xe2, 0x82])])),
    status: 400,
    code: -32_600,
    says: "the body is not UTF-8",
  },
  { name: "a string", asked: post('"hello"'), status: 400, code: -32_600 },
  {
    name: "another version of JSON-RPC",
    asked: post('{"jsonrpc":"1.0","id":7,"method":"ping"}'),
    status: 400,
    code: -32_600,
    id: 7,
  },
  {
    name: "an id that is an object",
    asked: post('{"jsonrpc":"2.0","id":{},"method":"ping"}'),
    status: 400,
    code: -32_600,
  },
  {
    name: "nesting that is too deep",
    asked: post(`{"jsonrpc":"2.0","id":1,"method":"x","params":${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
    status: 400,
    code: -32_600,
    id: 1,
  },
  {
    name: "a body with more bytes than a frame may have",
    asked: post(request(1, "x", { text: "x".repeat(4 * 1024 * 1024) })),
    status: 413,
    code: -32_600,
    says: "the body has more than 4194304 bytes",
  },
  {
    name: "a batch, where there are none",
    asked: ({ session }) => sessionPost(session, `[${ping}]`),
    status: 400,
    code: -32_600,
  },
  { name: "a batch outside of a session", asked: post(`[${ping}]`), status: 400, code: -32_600 },
  { name: "an empty batch", asked: ({ batching }) => sessionPost(batching, "[]"), status: 400, code: -32_600 },
  {
    name: "a batch of 101",
    asked: ({ batching }) => sessionPost(batching, `[${Array(101).fill(ping).join(",")}]`),
    status: 400,
    code: -32_600,
  },
  {
    name: "a batch with a message that speaks for itself",
    asked: ({ batching }) => sessionPost(batching, `[${ping},${stateless(2, "tools/list")}]`),
    status: 400,
    code: -32_600,
    says: "cannot be part of a batch",
  },
  {
    name: "a batch that opens a session",
    asked: post(`[${initialize("2025-03-26")}]`),
    status: 400,
    code: -32_600,
  },
  {
    name: "a response in the stateless era",
    asked: post(success(1, {}), { "mcp-protocol-version": modern }),
    status: 400,
    code: -32_600,
    says: "unexpected response",
  },
  {
    name: "a batch in the stateless era",
    asked: { ...statelessPost("tools/list"), body: `[${stateless(1, "tools/list")}]` },
    status: 400,
    code: -32_600,
  },
];
