import type { RuleCase } from "../rule-case.js";
import { answered, asked, failed, heard, server, type Talk, told } from "../talk.js";

const ofHandshake = (talk: Talk): boolean => !talk.isStateless;
const ofStateless = (talk: Talk): boolean => talk.isStateless;

/** Transcripts for the rules of this family. */
export const methodsCases: readonly RuleCase[] = [
  {
    rule: "M-1",
    breaks: (talk) => [...talk.opening(), talk.request(1, "acme/do")],
    found: { party: "client", pointer: "/method", text: '"acme/do"' },
    legal: (talk) => [...talk.opening(), talk.list(1)],
  },
  {
    rule: "M-2",
    breaks: (talk) => [...talk.opening(), heard("notifications/acme")],
    found: { party: "server", pointer: "/method", text: '"notifications/acme"' },
    legal: (talk) => [...talk.opening(), told("notifications/cancelled", { requestId: 99 })],
  },
  {
    rule: "M-3",
    why: "of the language server protocol",
    breaks: (talk) => [...talk.opening(), told("initialized")],
    found: {
      party: "client",
      pointer: "/method",
      says: 'did you mean notifications/initialized? No revision has "initialized": it is a name of the language server protocol',
    },
    legal: (talk) => talk.opening(),
  },
  {
    rule: "M-3",
    why: "of tutorials",
    breaks: (talk) => [
      ...talk.opening({ server: { resources: {} } }),
      talk.request(1, "resources/get", { uri: "a:b" }),
    ],
    found: { party: "client", pointer: "/method", says: /^did you mean resources\/read\?/ },
    legal: (talk) => [
      ...talk.opening({ server: { resources: {} } }),
      talk.request(1, "resources/read", { uri: "a:b" }),
    ],
  },
  {
    rule: "M-4",
    why: "for the wrong direction",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening(), asked(1, "tools/list")],
    found: { party: "server", pointer: "/method", says: "tools/list is sent by the client, never by the server" },
    legal: (talk) => [...talk.opening({ client: { roots: {} } }), asked(1, "roots/list"), answered(1, { roots: [] })],
  },
  {
    rule: "M-4",
    why: "for a message of an older revision",
    where: ofStateless,
    breaks: (talk) => [...talk.opening(), talk.request(1, "ping")],
    found: {
      party: "client",
      pointer: "/method",
      says: "ping is not in 2026-07-28: only 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 have it",
    },
    legal: (talk) => [
      ...talk.opening({ client: { extensions: { "io.modelcontextprotocol/tasks": {} } } }),
      talk.request(1, "tasks/get", { taskId: "t" }),
    ],
  },
  {
    rule: "M-5",
    breaks: (talk) => [...talk.opening(), talk.request(1, "tools/call", { name: 7 })],
    found: { party: "client", pointer: "/params/name", text: "7", says: "/name must be a string, got 7" },
    legal: (talk) => [...talk.opening(), talk.request(1, "tools/call", { name: "7", more: 7 })],
  },
  {
    rule: "M-5",
    why: "without params that must be there",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening(), talk.list(1).replace(/"tools\/list".*/, '"tools/call"}') as `→ ${string}`],
    found: { party: "client", pointer: "/params", says: "params must be an object, got nothing" },
    legal: (talk) => [...talk.opening(), talk.list(1).replace(/,"params".*/, "}") as `→ ${string}`],
  },
  {
    rule: "M-6",
    breaks: (talk) => [...talk.opening(), talk.call(1), talk.called(1, { content: "hello" })],
    found: {
      party: "server",
      pointer: "/result/content",
      text: '"hello"',
      says: '/content must be an array, got "hello"',
    },
    legal: (talk) => [...talk.opening(), talk.call(1), talk.called(1, { content: [{ type: "text", text: "hello" }] })],
  },
  {
    rule: "M-7",
    breaks: (talk) => [
      ...talk.opening({ server: { tools: {}, logging: {} } }),
      talk.call(1, "add", verbose(talk)),
      heard("notifications/message", { level: "loud", data: 1 }),
    ],
    found: { party: "server", pointer: "/params/level", text: '"loud"' },
    legal: (talk) => [
      ...talk.opening({ server: { tools: {}, logging: {} } }),
      talk.call(1, "add", verbose(talk)),
      heard("notifications/message", { level: "info", data: null }),
    ],
  },
  {
    rule: "M-8",
    where: ({ version }) => version === "2025-11-25",
    breaks: (talk) => [...talk.opening(), talk.call(1), failed(1, -32_042, { elicitations: "all" })],
    found: { party: "server", pointer: "/error/data/elicitations", text: '"all"' },
    legal: (talk) => [...talk.opening(), talk.call(1), failed(1, -32_042, { elicitations: [] })],
  },
  {
    rule: "M-8",
    where: ofStateless,
    breaks: (talk) => [...talk.opening(), talk.list(1), failed(1, -32_022, { supported: "all", requested: "1" })],
    found: { party: "server", pointer: "/error/data/supported", text: '"all"' },
    legal: (talk) => [
      ...talk.opening(),
      talk.list(1),
      server({
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32_022, message: "m", data: { supported: [], requested: "1" } },
      }),
    ],
  },
];

function verbose(talk: Talk): Readonly<Record<string, unknown>> {
  return talk.isStateless ? { "io.modelcontextprotocol/logLevel": "debug" } : {};
}
