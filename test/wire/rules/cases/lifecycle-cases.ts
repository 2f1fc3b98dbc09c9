import type { RuleCase } from "../rule-case.js";
import { answered, asked, client, failed, type Talk, told } from "../talk.js";

const ofHandshake = (talk: Talk): boolean => !talk.isStateless;
const other = ({ version }: Talk): string => (version === "2025-11-25" ? "2025-06-18" : "2025-11-25");
const info = { name: "peer", version: "1" };

/** Transcripts for the rules of this family. */
export const lifecycleCases: readonly RuleCase[] = [
  {
    rule: "L-1",
    where: ofHandshake,
    breaks: (talk) => [talk.list(1), talk.listed(1), talk.list(2), talk.listed(2)],
    found: { back: 3, party: "client", pointer: "/method", text: '"tools/list"' },
    legal: (talk) => [talk.request("p", "ping"), talk.result("p"), ...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "L-2",
    why: "before the answer to initialize",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening().slice(0, 1), talk.list(1)],
    found: { party: "client", pointer: "/method", says: '"tools/list" is requested before the answer to initialize' },
    legal: (talk) => [...talk.opening().slice(0, 1), talk.request(1, "ping")],
  },
  {
    rule: "L-2",
    why: "before initialized",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening().slice(0, 2), talk.list(1)],
    found: { party: "client", pointer: "/method", says: '"tools/list" is requested before notifications/initialized' },
    legal: (talk) => [...talk.opening(), talk.list(1)],
  },
  {
    rule: "L-3",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening({ client: { roots: {} } }).slice(0, 2), asked(1, "roots/list")],
    found: { party: "server", pointer: "/method", text: '"roots/list"' },
    legal: (talk) => [
      ...talk.opening({ client: { roots: {} } }).slice(0, 2),
      asked(1, "ping"),
      answered(1),
      ...talk.opening().slice(2),
      asked(2, "roots/list"),
      answered(2, { roots: [] }),
    ],
  },
  {
    rule: "L-4",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening(), talk.opening()[0]?.replace('"id":0', '"id":1') as `→ ${string}`],
    found: { party: "client", pointer: "/method", text: '"initialize"' },
    legal: (talk) => [
      ...talk.opening().slice(0, 1),
      failed(0, -32602, { supported: [talk.version], requested: talk.version }),
      ...talk.opening().map((line) => line.replace('"id":0', '"id":1') as typeof line),
    ],
  },
  {
    rule: "L-5",
    where: ofHandshake,
    breaks: (talk) => [`→ [${talk.opening()[0]?.slice(2)}]`],
    found: { party: "client", pointer: "/0/method", text: '"initialize"' },
    legal: (talk) => talk.opening(),
  },
  {
    rule: "L-6",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening().slice(0, 1), told("notifications/cancelled", { requestId: 0 })],
    found: { party: "client", pointer: "/params/requestId", text: "0" },
    legal: (talk) => [...talk.opening(), talk.list(1), told("notifications/cancelled", { requestId: 1 })],
  },
  {
    rule: "L-7",
    where: ofHandshake,
    breaks: (talk) => [
      ...talk.opening().slice(0, 1),
      talk.result(0, { protocolVersion: "2026-07-28", capabilities: {}, serverInfo: info }),
    ],
    found: { party: "server", pointer: "/result/protocolVersion", text: '"2026-07-28"' },
    legal: (talk) => talk.opening(),
  },
  {
    rule: "L-8",
    where: ofHandshake,
    breaks: () => [
      client({
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: "0.1.0", capabilities: {}, clientInfo: info },
      }),
    ],
    found: {
      party: "client",
      pointer: "/params/protocolVersion",
      says: 'no revision has the version "0.1.0": did you mean 2024-11-05?',
    },
    legal: (talk) => talk.opening(),
  },
  {
    rule: "L-9",
    where: ofHandshake,
    breaks: (talk) => [
      client({
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: other(talk), capabilities: {}, clientInfo: info },
      }),
      ...talk.opening().slice(1, 2),
    ],
    found: { party: "server", pointer: "/result/protocolVersion" },
    legal: (talk) => talk.opening(),
  },
];
