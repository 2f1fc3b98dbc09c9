import type { RuleCase } from "../rule-case.js";
import { answered, asked, failed, server, type Talk } from "../talk.js";

const where = (talk: Talk): boolean => talk.isStateless;
const form = { mode: "form", message: "Name?", requestedSchema: { type: "object", properties: {} } };
const inputRequests = { name: { method: "elicitation/create", params: form } };

/** Transcripts for the rules of this family. */
export const statelessCases: readonly RuleCase[] = [
  {
    rule: "S-4",
    where,
    breaks: (talk) => [...talk.opening(), asked(7, "roots/list")],
    found: { party: "server", pointer: "/method", text: '"roots/list"' },
    legal: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      talk.result(1, { resultType: "input_required", inputRequests }),
    ],
  },
  {
    rule: "S-5",
    where,
    breaks: (talk) => [...talk.opening(), asked(7, "roots/list"), answered(7, { roots: [] })],
    found: { party: "client", pointer: "" },
    besides: ["S-4"],
    legal: (talk) => [...talk.opening(), talk.list(1), talk.listed(1)],
  },
  {
    rule: "N-1",
    why: "without resultType",
    where,
    breaks: (talk) => [...talk.opening(), talk.call(1), server({ jsonrpc: "2.0", id: 1, result: { content: [] } })],
    found: { party: "server", pointer: "/result/resultType", text: '{"content":[]}' },
    legal: (talk) => [...talk.opening(), talk.call(1), talk.called(1)],
  },
  {
    rule: "N-1",
    why: "with an unknown word",
    where,
    breaks: (talk) => [...talk.opening(), talk.call(1), talk.called(1, { resultType: "task" })],
    found: { party: "server", pointer: "/result/resultType", text: '"task"' },
    legal: (talk) => [
      ...talk.opening({ client: { extensions: { "io.modelcontextprotocol/tasks": {} } } }),
      talk.call(1),
      talk.result(1, { resultType: "task", taskId: "t" }),
    ],
  },
  {
    rule: "N-2",
    where,
    breaks: (talk) => [
      ...talk.opening(),
      talk.list(1).replace(/"io.modelcontextprotocol\/clientCapabilities":\{\},/, "") as `→ ${string}`,
    ],
    found: { party: "client", pointer: "/params/_meta/io.modelcontextprotocol~1clientCapabilities" },
    legal: (talk) => [...talk.opening(), talk.list(1)],
  },
  {
    rule: "N-3",
    why: "for a code without a meaning",
    where,
    breaks: (talk) => [...talk.opening(), talk.call(1), failed(1, -32_050)],
    found: { party: "server", pointer: "/error/code", text: "-32050" },
    legal: (talk) => [...talk.opening(), talk.call(1), failed(1, -32_020)],
  },
  {
    rule: "N-3",
    why: "for a code of an older revision",
    where,
    breaks: (talk) => [...talk.opening(), talk.call(1), failed(1, -32_002)],
    found: { party: "server", pointer: "/error/code", says: /it is of 2025-11-25$/ },
    legal: (talk) => [...talk.opening(), talk.call(1), failed(1, 4_040)],
  },
  {
    rule: "N-4",
    where,
    breaks: (talk) => [...talk.opening(), talk.call(1), failed(1, -32_000)],
    found: { party: "server", pointer: "/error/code", text: "-32000" },
    legal: (talk) => [...talk.opening(), talk.call(1), failed(1, -31_999)],
  },
  {
    rule: "N-5",
    where,
    stdioOnly: "over HTTP every request may be of another client",
    breaks: (talk) => {
      const opening = talk.opening();
      talk.opening({ client: { roots: {} } });
      return [...opening, talk.list(1)];
    },
    found: {
      party: "client",
      pointer: "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
      text: '{"roots":{}}',
    },
    legal: (talk) => [...talk.opening({ client: { roots: {} } }), talk.list(1)],
  },
];
