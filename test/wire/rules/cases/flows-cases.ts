import type { RuleCase } from "../rule-case.js";
import { frames, heard, type Talk, told } from "../talk.js";

const ofHandshake = (talk: Talk): boolean => !talk.isStateless;
const ofStateless = (talk: Talk): boolean => talk.isStateless;
const progress = (progressToken: unknown, value: number): ReturnType<typeof heard> =>
  heard("notifications/progress", { progressToken, progress: value });
const form = { mode: "form", message: "Name?", requestedSchema: { type: "object", properties: {} } };
const questions = {
  resultType: "input_required",
  inputRequests: { name: { method: "elicitation/create", params: form } },
};
const answers = { inputResponses: { name: { action: "decline" } } };
const tagged = (id: unknown): Readonly<Record<string, unknown>> => ({
  _meta: { "io.modelcontextprotocol/subscriptionId": id },
});
const log = (level: string): ReturnType<typeof heard> => heard("notifications/message", { level, data: "x" });
const logging = { server: { tools: {}, logging: {} } };

const twoWithOneToken: Pick<RuleCase, "breaks" | "found" | "legal"> = {
  breaks: (talk) => [
    ...talk.opening(),
    talk.call(1, "add", { progressToken: 7 }),
    talk.call(2, "add", { progressToken: 7 }),
  ],
  found: { party: "client", pointer: "/params/_meta/progressToken", text: "7" },
  legal: (talk) => [
    ...talk.opening(),
    talk.call(1, "add", { progressToken: 7 }),
    talk.called(1),
    talk.call(2, "add", { progressToken: 7 }),
  ],
};

const cancelled = told("notifications/cancelled", { requestId: 1 });

/** The last line comes so late that what came before it has arrived everywhere. */
function late(...said: Parameters<typeof frames>[0]): ReturnType<typeof frames> {
  return frames(said, (frame, index) => (index === said.length - 1 ? { ...frame, t: frame.t + 2_000 } : frame));
}

/** Transcripts for the rules of this family. */
export const flowsCases: readonly RuleCase[] = [
  {
    rule: "P-1",
    breaks: (talk) => [...talk.opening(), talk.call(1, "add", { progressToken: 7 }), progress("7", 1)],
    found: {
      party: "server",
      pointer: "/params/progressToken",
      text: '"7"',
      says: /^the request in frame \d+ has the token 7, which is not "7"$/,
    },
    legal: (talk) => [...talk.opening(), talk.call(1, "add", { progressToken: "7" }), progress("7", 1)],
  },
  {
    rule: "P-2",
    where: ofHandshake,
    ...twoWithOneToken,
  },
  {
    rule: "P-2",
    where: ofStateless,
    stdioOnly: "over HTTP every request may be of another client",
    ...twoWithOneToken,
  },
  {
    rule: "P-3",
    breaks: (talk) => [...talk.opening(), talk.call(1, "add", { progressToken: 7 }), progress(7, 1), progress(7, 1)],
    found: { party: "server", pointer: "/params/progress", text: "1", says: /^it is 1, and frame \d+ has said 1$/ },
    legal: (talk) => [...talk.opening(), talk.call(1, "add", { progressToken: 7 }), progress(7, 1), progress(7, 1.01)],
  },
  {
    rule: "P-4",
    breaks: (talk) => [...talk.opening(), talk.call(1, "add", { progressToken: 7 }), talk.called(1), progress(7, 1)],
    found: { party: "server", pointer: "/params/progressToken", text: "7" },
    legal: (talk) => [...talk.opening(), talk.call(1, "add", { progressToken: 7 }), progress(7, 1), talk.called(1)],
  },
  {
    rule: "P-4",
    why: "with the token of a call that is over, whose progress starts anew",
    breaks: (talk) => [
      ...talk.opening(),
      talk.call(1, "add", { progressToken: 7 }),
      progress(7, 2),
      talk.called(1),
      progress(7, 1),
    ],
    found: { party: "server", pointer: "/params/progressToken", text: "7" },
    legal: (talk) => [
      ...talk.opening(),
      talk.call(1, "add", { progressToken: 7 }),
      progress(7, 1),
      progress(7, 2),
      talk.called(1),
    ],
  },
  {
    rule: "X-1",
    why: "for a request that is not there",
    breaks: (talk) => [...talk.opening(), told("notifications/cancelled", { requestId: 99 })],
    found: { party: "client", pointer: "/params/requestId", text: "99" },
    legal: (talk) => [...talk.opening(), talk.call(1), told("notifications/cancelled", { requestId: 1 })],
  },
  {
    rule: "X-1",
    why: "for a request that was answered",
    breaks: (talk) => late(...talk.opening(), talk.call(1), talk.called(1), cancelled),
    found: { party: "client", pointer: "/params/requestId", says: /^the request 1 was answered by frame \d+$/ },
    legal: (talk) => [...talk.opening(), talk.call(1), talk.called(1), cancelled],
  },
  {
    rule: "X-2",
    breaks: (talk) => late(...talk.opening(), talk.call(1), cancelled, talk.called(1)),
    found: { party: "server", pointer: "/id", text: "1" },
    legal: (talk) => [...talk.opening(), talk.call(1), cancelled, talk.called(1)],
  },
  {
    rule: "X-3",
    where: ofStateless,
    breaks: (talk) => [...talk.opening(), talk.call(1), heard("notifications/cancelled", { requestId: 1 })],
    found: { party: "server", pointer: "/params/requestId", text: "1" },
    legal: (talk) => [...listening(talk), heard("notifications/cancelled", { requestId: "sub" })],
  },
  {
    rule: "Q-1",
    where: ofStateless,
    breaks: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.list(1),
      talk.listed(1).replace("complete", "input_required").replace("[]", '[],"requestState":"s"') as `← ${string}`,
    ],
    found: { party: "server", pointer: "/result/resultType", text: '"input_required"' },
    legal: (talk) => [
      ...talk.opening(),
      talk.call(1),
      talk.result(1, { resultType: "input_required", requestState: "s" }),
    ],
  },
  {
    rule: "Q-2",
    why: "with what was not asked",
    where: ofStateless,
    breaks: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      talk.result(1, questions),
      talk.request(2, "tools/call", { name: "add", arguments: {}, inputResponses: { age: { action: "decline" } } }),
    ],
    found: { party: "client", pointer: "/params/inputResponses/age", text: '{"action":"decline"}' },
    legal: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      talk.result(1, questions),
      talk.request(2, "tools/call", { name: "add", arguments: {}, ...answers }),
      talk.called(2),
    ],
  },
  {
    rule: "Q-2",
    why: "with the same id",
    where: ofStateless,
    breaks: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      talk.result(1, questions),
      talk.request(1, "tools/call", { name: "add", arguments: {}, ...answers }),
    ],
    found: { party: "client", pointer: "/id", text: "1", says: /^frame \d+ has the same id$/ },
    legal: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      talk.result(1, questions),
      talk.request(2, "tools/call", { name: "add", arguments: {}, ...answers }),
    ],
  },
  {
    rule: "Q-2",
    why: "without the state",
    where: ofStateless,
    breaks: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      talk.result(1, { ...questions, requestState: "s" }),
      talk.request(2, "tools/call", { name: "add", arguments: {}, ...answers }),
    ],
    found: { party: "client", pointer: "/params", says: /^the requestState of frame \d+ is not returned$/ },
    legal: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      talk.result(1, { ...questions, requestState: "s" }),
      talk.request(2, "tools/call", { name: "add", arguments: {}, ...answers, requestState: "s" }),
    ],
  },
  {
    rule: "Q-2",
    why: "with other arguments",
    where: ofStateless,
    breaks: (talk) => [
      ...talk.opening(),
      talk.call(1),
      talk.result(1, { resultType: "input_required", requestState: "s" }),
      talk.request(2, "tools/call", { name: "add", arguments: { a: 2 }, requestState: "s" }),
    ],
    found: { party: "client", pointer: "/params/arguments", text: '{"a":2}' },
    legal: (talk) => [
      ...talk.opening(),
      talk.call(1),
      talk.result(1, { resultType: "input_required", requestState: "s" }),
      talk.request(2, "tools/call", { name: "add", arguments: {}, requestState: "s" }),
    ],
  },
  {
    rule: "U-1",
    why: "without an id",
    where: ofStateless,
    breaks: (talk) => [...listening(talk), heard("notifications/tools/list_changed")],
    found: { party: "server", pointer: "/params/_meta" },
    legal: (talk) => [...listening(talk), heard("notifications/tools/list_changed", tagged("sub"))],
  },
  {
    rule: "U-1",
    why: "with the id of nothing",
    where: ofStateless,
    breaks: (talk) => [...listening(talk), heard("notifications/tools/list_changed", tagged("bus"))],
    found: { party: "server", pointer: "/params/_meta/io.modelcontextprotocol~1subscriptionId", text: '"bus"' },
    legal: (talk) => listening(talk),
  },
  {
    rule: "U-2",
    where: ofStateless,
    breaks: (talk) => [...listening(talk).slice(0, -1), heard("notifications/tools/list_changed", tagged("sub"))],
    found: { party: "server", pointer: "/method", text: '"notifications/tools/list_changed"' },
    legal: (talk) => [...listening(talk), heard("notifications/tools/list_changed", tagged("sub"))],
  },
  {
    rule: "U-3",
    where: ofStateless,
    breaks: (talk) => [...listening(talk), heard("notifications/prompts/list_changed", tagged("sub"))],
    found: { party: "server", pointer: "/method", says: /^frame \d+ does not ask for promptsListChanged$/ },
    legal: (talk) => [...listening(talk), heard("notifications/tools/list_changed", tagged("sub"))],
  },
  {
    rule: "U-4",
    where: ofStateless,
    breaks: (talk) => [
      ...listening(talk),
      talk.result("sub", tagged("sub")),
      heard("notifications/tools/list_changed", tagged("sub")),
    ],
    found: { party: "server", pointer: "/params/_meta/io.modelcontextprotocol~1subscriptionId", text: '"sub"' },
    legal: (talk) => [...listening(talk), talk.result("sub", tagged("sub"))],
  },
  {
    rule: "U-5",
    where: ofStateless,
    breaks: (talk) => [...listening(talk), talk.result("sub", tagged("bus"))],
    found: { party: "server", pointer: "/result/_meta/io.modelcontextprotocol~1subscriptionId", text: '"bus"' },
    legal: (talk) => [...listening(talk), talk.result("sub", tagged("sub"))],
  },
  {
    rule: "G-1",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening(), talk.request(1, "tools/list", { cursor: "page-2" })],
    found: { party: "client", pointer: "/params/cursor", text: '"page-2"' },
    legal: (talk) => [
      ...talk.opening(),
      talk.list(1),
      talk.result(1, { tools: [], nextCursor: "page-2" }),
      talk.request(2, "tools/list", { cursor: "page-2" }),
    ],
  },
  {
    rule: "V-1",
    why: "without a wish for it",
    where: ofStateless,
    breaks: (talk) => [...talk.opening(logging), talk.call(1), log("error")],
    found: { party: "server", pointer: "/method" },
    legal: (talk) => [
      ...talk.opening(logging),
      talk.call(1, "add", { "io.modelcontextprotocol/logLevel": "error" }),
      log("error"),
    ],
  },
  {
    rule: "V-1",
    why: "for less than was wished for",
    where: ofStateless,
    breaks: (talk) => [
      ...talk.opening(logging),
      talk.call(1, "add", { "io.modelcontextprotocol/logLevel": "error" }),
      log("warning"),
    ],
    found: { party: "server", pointer: "/params/level", text: '"warning"' },
    legal: (talk) => [
      ...talk.opening(logging),
      talk.call(1, "add", { "io.modelcontextprotocol/logLevel": "info" }),
      log("warning"),
    ],
  },
  {
    rule: "V-2",
    where: ofHandshake,
    breaks: (talk) => [
      ...talk.opening(logging),
      log("debug"),
      talk.request(1, "logging/setLevel", { level: "error" }),
      talk.result(1),
      log("info"),
    ],
    found: { party: "server", pointer: "/params/level", text: '"info"' },
    legal: (talk) => [
      ...talk.opening(logging),
      log("debug"),
      talk.request(1, "logging/setLevel", { level: "error" }),
      talk.result(1),
      log("alert"),
    ],
  },
];

/** A subscription to changes of tools that the server has acknowledged. */
function listening(talk: Talk): ReturnType<Talk["opening"]> {
  const filter = { notifications: { toolsListChanged: true } };
  return [
    ...talk.opening({ server: { tools: { listChanged: true }, prompts: { listChanged: true } } }),
    talk.request("sub", "subscriptions/listen", filter),
    heard("notifications/subscriptions/acknowledged", { ...filter, ...tagged("sub") }),
  ];
}
