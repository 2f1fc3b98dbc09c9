import type { Said } from "../../recording/recorded.js";
import type { RuleCase } from "../rule-case.js";
import { client, server } from "../talk.js";

const rpc = { jsonrpc: "2.0" };
const hasBatches = ({ version }: { version: string }): boolean => version === "2025-03-26";

const cancelled = client({ ...rpc, method: "notifications/cancelled", params: { requestId: 1 } });
const unknownCancelled = client({ ...rpc, method: "notifications/cancelled", params: { requestId: 99 } });

const unknownMethod = { code: -32_601, message: "Method not found" };

/** An error that answers no request, with the id that R-13 requires. */
const errorToNothing = ({ version }: { version: string }, error: object): Said =>
  server({ ...rpc, ...(version < "2025-11-25" && { id: null }), error });

/** Transcripts for the rules of this family. */
export const jsonRpcCases: readonly RuleCase[] = [
  {
    rule: "R-1",
    why: "without jsonrpc",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      talk.listed(1).replace('"jsonrpc":"2.0",', "") as `← ${string}`,
    ],
    found: { party: "server", pointer: "/jsonrpc", says: 'jsonrpc must be "2.0", got nothing' },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-1",
    why: "with another version of JSON-RPC",
    breaks: (talk) => [...talk.opening(), talk.list(1).replace('"2.0"', "2.0") as `→ ${string}`, talk.listed(1)],
    found: { back: 1, party: "client", pointer: "/jsonrpc", text: "2.0" },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-1",
    why: "with a result and an error",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      talk.listed(1).replace(/\}$/, ',"error":{"code":1,"message":"m"}}') as `← ${string}`,
    ],
    found: { party: "server", pointer: "", says: "it has result and error, of which a message has one" },
    legal: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1, error: { code: 1, message: "m" } })],
  },
  {
    rule: "R-1",
    why: "with neither a result nor an error",
    breaks: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1 })],
    found: { party: "server", pointer: "", text: '{"jsonrpc":"2.0","id":1}' },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-1",
    why: "for a value that is no object",
    breaks: (talk) => [...talk.opening(), "← 42"],
    found: { party: "server", pointer: "", text: "42", says: "a message must be an object, got 42" },
    legal: (talk) => talk.opening(),
  },
  {
    rule: "R-2",
    breaks: (talk) => [...talk.opening(), talk.list(1.5), talk.listed(1.5)],
    found: { back: 1, party: "client", pointer: "/id", text: "1.5" },
    besides: [],
    legal: (talk) => [...talk.opening(), talk.list("1.5"), talk.listed("1.5")],
  },
  {
    rule: "R-2",
    why: "for a request without one",
    breaks: (talk) => [...talk.opening(), talk.list(undefined)],
    found: { party: "client", pointer: "/id", says: "tools/list is a request: without an id it has no response" },
    legal: (talk) => [...talk.opening(), talk.list(0x7fff_ffff), talk.listed(0x7fff_ffff)],
  },
  {
    rule: "R-3",
    breaks: (talk) => [...talk.opening(), talk.list(null)],
    found: { party: "client", pointer: "/id", text: "null" },
    legal: (talk) => [...talk.opening(), talk.list("null"), talk.listed("null")],
  },
  {
    rule: "R-4",
    why: "in a session of the handshake era",
    where: (talk) => !talk.isStateless,
    breaks: (talk) => [...talk.opening(), talk.list(1), talk.listed(1), talk.list(1), talk.listed(1)],
    found: { back: 1, party: "client", pointer: "/id", text: "1" },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1), talk.list(2), talk.listed(2)],
  },
  {
    rule: "R-4",
    why: "while the request waits",
    where: (talk) => talk.isStateless,
    stdioOnly: "over HTTP every request may be of another client",
    breaks: (talk) => [...talk.opening(), talk.list(1), talk.list(1), talk.listed(1), talk.listed(1)],
    found: {
      back: 2,
      party: "client",
      pointer: "/id",
      says: /^the id 1 is that of the request in frame \d+, which still waits/,
    },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1), talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-5",
    why: "with the other type of id",
    breaks: (talk) => [...talk.opening(), talk.list(1), talk.listed("1")],
    found: { party: "server", pointer: "/id", text: '"1"' },
    legal: (talk) => [...talk.opening(), talk.list("1"), talk.listed("1")],
  },
  {
    rule: "R-5",
    why: "for an id without a request",
    breaks: (talk) => [...talk.opening(), talk.list(1), talk.listed(99)],
    found: { party: "server", pointer: "/id", text: "99" },
    legal: (talk) => [...talk.opening(), talk.list(99), talk.listed(99)],
  },
  {
    rule: "R-5",
    why: "answered twice",
    breaks: (talk) => [...talk.opening(), talk.list(1), talk.listed(1), talk.listed(1)],
    found: {
      party: "server",
      pointer: "/id",
      text: "1",
      says: /^the request with the id 1 was answered already, by frame \d+$/,
    },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-5",
    why: "answered after the cancellation, and then in earnest",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      cancelled,
      server({ ...rpc, id: 1, error: unknownMethod }),
      talk.listed(1),
    ],
    found: {
      party: "server",
      pointer: "/id",
      text: "1",
      says: /by frame (\d+), which may answer the cancellation in frame \d+$/,
    },
    legal: (talk) => [...talk.opening(), talk.list(1), cancelled, talk.listed(1)],
  },
  {
    rule: "R-5",
    why: "without an id",
    breaks: (talk) => [...talk.opening(), talk.list(1), talk.listed(undefined)],
    found: {
      party: "server",
      pointer: "/id",
      says: /^it has no id, so it does not answer the request in frame \d+, which waits$/,
    },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-6",
    why: "with an error that is a string",
    breaks: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1, error: "boom" })],
    found: { party: "server", pointer: "/error", text: '"boom"' },
    legal: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1, error: { code: 1, message: "boom" } })],
  },
  {
    rule: "R-6",
    why: "with an invalid code",
    breaks: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1, error: { code: "E1", message: "m" } })],
    found: { party: "server", pointer: "/error/code", text: '"E1"' },
    legal: (talk) => [
      ...talk.opening(),
      talk.list(1),
      server({ ...rpc, id: 1, error: { code: 1, message: "", data: [] } }),
    ],
  },
  {
    rule: "R-6",
    why: "with a result that is no object",
    breaks: (talk) => [...talk.opening(), talk.list(1), server({ ...rpc, id: 1, result: [] })],
    found: { party: "server", pointer: "/result", text: "[]" },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-7",
    why: "with a result",
    breaks: (talk) => [...talk.opening(), unknownCancelled, talk.result(null)],
    found: { party: "server", pointer: "", says: /^it answers the notification in frame \d+$/ },
    besidesOverHttp: ["H-4"],
    legal: (talk) => [...talk.opening(), unknownCancelled, talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-7",
    why: "with an error",
    stdioOnly: "HTTP allows to refuse a notification with an error",
    breaks: (talk) => [
      ...talk.opening(),
      unknownCancelled,
      server({ ...rpc, error: { code: -32601, message: "Method not found" } }),
    ],
    found: { party: "server", pointer: "" },
    legal: (talk) => [
      ...talk.opening(),
      unknownCancelled,
      server({ ...rpc, error: { code: -32600, message: "Invalid Request" } }),
    ],
  },
  {
    rule: "R-7",
    why: "with an error, after a request that came together with it",
    stdioOnly: "HTTP allows to refuse a notification with an error",
    breaks: (talk) => [
      ...talk.opening(),
      unknownCancelled,
      talk.list(1),
      server({ ...rpc, id: null, error: { code: -32601, message: "Method not found" } }),
    ],
    found: { party: "server", pointer: "", says: /^it answers the notification in frame \d+$/ },
    legal: (talk) => [...talk.opening(), unknownCancelled, talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-7",
    why: "with the id that a cancellation names, of a request that was never sent",
    breaks: (talk) => [
      ...talk.opening(),
      unknownCancelled,
      server({ ...rpc, id: 99, error: { code: -32800, message: "Cancelled" } }),
    ],
    found: { party: "server", pointer: "", says: /^it answers the notification in frame \d+$/ },
    legal: (talk) => [...talk.opening(), talk.list(99), unknownCancelled, talk.listed(99)],
  },
  {
    rule: "R-7",
    why: "with a result, after a request that came together with it",
    stdioOnly: "over HTTP each message has an exchange of its own",
    breaks: (talk) => [...talk.opening(), unknownCancelled, talk.list(1), talk.result(undefined)],
    found: { party: "server", pointer: "", says: /^it answers the notification in frame \d+$/ },
    legal: (talk) => [...talk.opening(), unknownCancelled, talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-7",
    why: "with an error that names it, while a request before it is open",
    stdioOnly: "HTTP allows to refuse a notification with an error",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      unknownCancelled,
      talk.list(2),
      server({ ...rpc, error: { code: -32601, message: "Method not found: notifications/cancelled" } }),
      talk.listed(1),
      talk.listed(2),
    ],
    found: { back: 2, party: "server", pointer: "", says: /^it answers the notification in frame \d+$/ },
    legal: (talk) => [...talk.opening(), talk.list(1), unknownCancelled, talk.list(2), talk.listed(1), talk.listed(2)],
  },
  {
    rule: "R-5",
    why: "with a result without an id, after an error that has answered the notification before it",
    stdioOnly: "HTTP allows to refuse a notification with an error",
    where: (talk) => !talk.isStateless,
    besides: ["R-7"],
    breaks: (talk) => [
      ...talk.opening(),
      talk.request(1, "ping"),
      unknownCancelled,
      server({ ...rpc, error: { code: -32601, message: "Method not found" } }),
      talk.result(undefined),
    ],
    found: { party: "server", pointer: "/id", says: "it has no id, so it answers no request" },
    legal: (talk) => [...talk.opening(), talk.request(1, "ping"), unknownCancelled, talk.result(1)],
  },
  {
    rule: "R-5",
    why: "with the result of an open request without an id, after a notification",
    stdioOnly: "over HTTP each message has an exchange of its own",
    breaks: (talk) => [...talk.opening(), talk.list(1), unknownCancelled, talk.listed(undefined)],
    found: { party: "server", pointer: "/id", says: /^it has no id, so it does not answer the request in frame \d+/ },
    legal: (talk) => [...talk.opening(), talk.list(1), unknownCancelled, talk.listed(1)],
  },
  {
    rule: "R-5",
    why: "with an empty result without an id, that the open request may have, or a notification before it",
    stdioOnly: "over HTTP each message has an exchange of its own",
    where: (talk) => !talk.isStateless,
    breaks: (talk) => [...talk.opening(), unknownCancelled, talk.request(1, "ping"), talk.result(null)],
    found: {
      party: "server",
      pointer: "/id",
      says: /^its id is null, so it answers no request; nor may it answer the notification in frame \d+$/,
    },
    legal: (talk) => [...talk.opening(), unknownCancelled, talk.request(1, "ping"), talk.result(1)],
  },
  {
    rule: "R-8",
    breaks: (talk) => [
      ...talk.opening(),
      client({ ...rpc, id: 5, method: "notifications/cancelled", params: { requestId: 99 } }),
    ],
    found: { party: "client", pointer: "/id", text: "5" },
    legal: (talk) => [...talk.opening(), unknownCancelled],
  },
  {
    rule: "R-9",
    breaks: (talk) => [...talk.opening(), client({ ...rpc, method: "notifications/cancelled", params: [99] })],
    found: { party: "client", pointer: "/params", text: "[99]" },
    legal: (talk) => [...talk.opening(), unknownCancelled],
  },
  {
    rule: "R-10",
    why: "where there are no batches",
    where: (talk) => !hasBatches(talk),
    breaks: (talk) => [...talk.opening(), talk.list(1), `← [${talk.listed(1).slice(2)}]`],
    found: { party: "server", says: /has no batches$/ },
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "R-10",
    why: "for a batch of nothing",
    where: hasBatches,
    breaks: (talk) => [...talk.opening(), "→ []"],
    found: { party: "client", text: "[]" },
    legal: (talk) => [
      ...talk.opening(),
      `→ [${talk.list(1).slice(2)},${talk.list(2).slice(2)}]`,
      `← [${talk.listed(2).slice(2)},${talk.listed(1).slice(2)}]`,
    ],
  },
  {
    rule: "R-11",
    breaks: (talk) => [...talk.opening(), client({ ...rpc, method: 7 })],
    found: { party: "client", pointer: "/method", text: "7" },
    legal: (talk) => [...talk.opening(), client({ ...rpc, method: "com.example/seven" })],
  },
  {
    rule: "R-12",
    breaks: (talk) => [...talk.opening(), talk.request(1, "rpc.discover")],
    found: { party: "client", pointer: "/method", text: '"rpc.discover"' },
    legal: (talk) => [...talk.opening(), talk.request(1, "rpcs/discover")],
  },
  {
    rule: "R-13",
    why: "with null",
    where: ({ version }) => version >= "2025-11-25",
    breaks: (talk) => [
      ...talk.opening(),
      server({ ...rpc, id: null, error: { code: -32600, message: "Invalid Request" } }),
    ],
    found: { party: "server", pointer: "/id", text: "null" },
    legal: (talk) => [...talk.opening(), server({ ...rpc, error: { code: -32600, message: "Invalid Request" } })],
  },
  {
    rule: "R-13",
    why: "without an id",
    where: ({ version }) => version < "2025-11-25",
    breaks: (talk) => [...talk.opening(), server({ ...rpc, error: { code: -32600, message: "Invalid Request" } })],
    found: { party: "server", pointer: "/id" },
    legal: (talk) => [
      ...talk.opening(),
      server({ ...rpc, id: null, error: { code: -32600, message: "Invalid Request" } }),
    ],
  },
  {
    rule: "R-15",
    stdioOnly: "over HTTP some servers send this code for other mistakes, with a status",
    breaks: (talk) => [...talk.opening(), talk.list(1), errorToNothing(talk, { code: -32700, message: "Parse error" })],
    found: { party: "server", pointer: "/error/code", text: "-32700", says: /^every message so far was valid JSON$/ },
    legal: (talk) => [
      ...talk.opening(),
      talk.list(1),
      errorToNothing(talk, { code: -32600, message: "Invalid Request" }),
    ],
  },
  {
    rule: "R-14",
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1),
      server({ ...rpc, id: 1, error: { code: -32500, message: "m" } }),
    ],
    found: { party: "server", pointer: "/error/code", text: "-32500" },
    legal: (talk) => [
      ...talk.opening(),
      talk.list(1),
      server({ ...rpc, id: 1, error: { code: -32603, message: "m" } }),
    ],
  },
];
