import { latest, latestHandshake } from "@parlance/mcp";
import { type JsonObject, type Method, messagesOf, methods, type Revision, revisions } from "@parlance/mcp/protocol";
import { type Level, levelOf, type Requirement, type Rule, rules, sentenceOf, specOf } from "@parlance/wire";
import { leaving, probes } from "../check/examination/examine.js";
import type { Probe } from "../check/examination/probe.js";
import { type Explanation, facts, type QuotedSentence, spanText, type WireExample } from "./explanation.js";
import { mends } from "./mends.js";

/** The ids of all rules. */
export const ruleIds: readonly string[] = rules.map(({ id }) => id);

/** Explains a rule: its requirement, the sentences of the specification, the revisions, and the party that it binds. */
export function explainRule(word: string): Explanation | undefined {
  const rule = rules.find(({ id }) => id === word.toUpperCase());
  if (rule === undefined) return undefined;
  const { on, applies = () => true } = rule;
  return explainRequirement("rule", rule, revisions.filter(applies), (level) => ({
    "looks at": subjects[on],
    "at fault": level === "must" ? faults[on] : undefined,
  }));
}

const subjects: Readonly<Record<Rule["on"], string>> = {
  frame: "the bytes of a frame",
  body: "the body of an HTTP request or response",
  message: "a message and the conversation before it",
  exchange: "an HTTP request and its response",
};

const faults: Readonly<Record<Rule["on"], string>> = {
  frame: "its sender",
  body: "its sender",
  message: "its sender",
  exchange: "the side that the verdict names",
};

const all: readonly Probe[] = [...probes, leaving];

/** The ids of all probes. */
export const probeIds: readonly string[] = all.map(({ id }) => id);

/** Explains a probe: its requirement, the sentences of the specification, the revisions and the transports. */
export function explainProbe(word: string): Explanation | undefined {
  const probe = all.find(({ id }) => id === word.toUpperCase());
  if (probe === undefined) return undefined;
  const { applies = () => true } = probe;
  const isOver = (transport: "channel" | "http"): boolean => revisions.some((each) => applies(each, transport));
  const having = revisions.filter((each) => applies(each, "channel") || applies(each, "http"));
  return explainRequirement("probe", probe, having, () => ({
    over: !isOver("channel") ? "HTTP" : !isOver("http") || probe === leaving ? "stdio" : "every transport",
  }));
}

/** @param more the facts that only this topic has, by the strongest level of the requirement */
function explainRequirement(
  topic: "rule" | "probe",
  requirement: Requirement,
  having: readonly Revision[],
  more: (level: Level) => Readonly<Record<string, string | undefined>>,
): Explanation {
  const { id, demands, doubt } = requirement;
  const sentences = sentencesOf(requirement, having);
  const level = strongestOf(requirement, sentences);
  return {
    topic,
    name: id,
    title: titleOf[level],
    says: demands,
    facts: facts({
      in: spanText(having.map(({ version }) => version)),
      ...more(level),
      "a note": doubt === undefined ? undefined : `because ${doubt}`,
      "to mend": mends[id]?.says,
      code: mends[id]?.code,
    }),
    sentences,
    wire: ruleExamples[id] ?? [],
    spec: [...new Set(sentences.map(({ spec }) => spec))],
  };
}

/** The sentences of a rule or probe, newest first, each with its address in the newest revision that has it. */
function sentencesOf(requirement: Requirement, having: readonly Revision[]): readonly QuotedSentence[] {
  const quoted: QuotedSentence[] = [];
  for (const revision of having.toReversed()) {
    const [level, text] = [levelOf(requirement, revision), sentenceOf(requirement, revision)];
    const last = quoted.at(-1);
    if (last !== undefined && last.level === level && last.text === text)
      quoted[quoted.length - 1] = { ...last, versions: [revision.version, ...last.versions] };
    else quoted.push({ versions: [revision.version], level, text, spec: specOf(requirement, revision) });
  }
  return quoted;
}

/** The strongest level that a finding can have. */
function strongestOf({ doubt }: Requirement, sentences: readonly QuotedSentence[]): Level {
  if (doubt !== undefined) return "may";
  const found = new Set(sentences.map(({ level }) => level));
  return found.has("must") ? "must" : found.has("should") ? "should" : "may";
}

/** The titles of rules and probes, by their strongest requirement level. */
const titleOf: Readonly<Record<Level, string>> = {
  must: "a requirement of the protocol",
  should: "a recommendation of the protocol, and a note if it is not followed",
  may: "information: a note, not a violation",
};

const client = (raw: string): WireExample => ({ from: "client", raw });
const server = (raw: string): WireExample => ({ from: "server", raw });
const message = (members: JsonObject): string => JSON.stringify({ jsonrpc: "2.0", ...members });
const asks = (id: unknown, method: string, params?: unknown): WireExample => client(message({ id, method, params }));
const notifies = (method: string, params?: JsonObject): WireExample => client(message({ method, params }));
const answers = (id: unknown, result: unknown): WireExample => server(message({ id, result }));
const fails = (id: unknown, error: unknown): WireExample => server(message({ id, error }));
const serverNotifies = (method: string, params?: JsonObject): WireExample => server(message({ method, params }));

const version = latestHandshake.version;
const peer = { name: "peer", version: "1.0" };
const opensWith = (capabilities: JsonObject): WireExample =>
  asks(0, methods.initialize, { protocolVersion: version, capabilities, clientInfo: peer });
const opens = opensWith({});
const opened = answers(0, { protocolVersion: version, capabilities: { tools: {} }, serverInfo: peer });
const lists = asks(1, methods.listTools);
const calls = asks(1, methods.callTool, { name: "add", arguments: {}, _meta: { progressToken: 7 } });
const progress = (amount: number, token = 7): WireExample =>
  serverNotifies("notifications/progress", { progressToken: token, progress: amount });

/** A request of the stateless era, which names its own version. */
const speaks = (id: number, method: Method): WireExample =>
  client(JSON.stringify({ ...messagesOf(latest.version).request(id, methods.listTools), method }));

/** A list that grows without a notification. */
const changes = (member: "tools" | "resources" | "prompts"): readonly WireExample[] => {
  const first = {
    name: "one",
    ...(member === "tools" && { inputSchema: { type: "object" } }),
    ...(member === "resources" && { uri: "a:one" }),
  };
  return [
    opens,
    answers(0, { protocolVersion: version, capabilities: { [member]: { listChanged: true } }, serverInfo: peer }),
    notifies("notifications/initialized"),
    asks(1, `${member}/list`),
    answers(1, { [member]: [] }),
    asks(2, `${member}/list`),
    answers(2, { [member]: [first] }),
  ];
};
const listed = (tool: JsonObject): readonly WireExample[] => [lists, answers(1, { tools: [tool] })];

/** Messages that break a rule, without the handshake before them. */
export const ruleExamples: Readonly<Record<string, readonly WireExample[]>> = {
  "S-1": [lists, server('{ "jsonrpc": "2.0",'), server('  "id": 1, "result": { "tools": [] } }')],
  "S-2": [server("Server listening on port 3000")],
  "S-3": [client("hello")],
  "R-1": [lists, server('{"id":1,"result":{"tools":[]}}')],
  "R-2": [asks(1.5, methods.listTools)],
  "R-3": [asks(null, methods.listTools)],
  "R-4": [lists, asks(1, methods.ping)],
  "R-5": [lists, answers("1", { tools: [] })],
  "R-6": [lists, fails(1, "the tool failed")],
  "R-7": [
    notifies("notifications/cancelled", { requestId: 5 }),
    fails(null, { code: -32_601, message: "Method not found" }),
  ],
  "R-8": [asks(2, "notifications/cancelled", { requestId: 1 })],
  "R-9": [asks(1, methods.callTool, ["add", 2, 3])],
  "R-10": [client(`[${message({ id: 1, method: methods.ping })}]`)],
  "R-11": [client(message({ id: 1, method: 7 }))],
  "R-12": [asks(1, "rpc.listTools")],
  "R-14": [lists, fails(1, { code: -32_650, message: "Out of tools" })],
  "R-15": [notifies("notifications/initialized"), lists, fails(null, { code: -32_700, message: "Parse error" })],
  "L-1": [lists],
  "L-2": [opens, opened, lists],
  "L-3": [opensWith({ roots: {} }), opened, server(message({ id: 1, method: methods.listRoots }))],
  "L-4": [
    opens,
    opened,
    notifies("notifications/initialized"),
    asks(1, methods.initialize, { protocolVersion: version, capabilities: {}, clientInfo: peer }),
  ],
  "L-6": [opens, notifies("notifications/cancelled", { requestId: 0 })],
  "L-7": [opens, answers(0, { protocolVersion: latest.version, capabilities: {}, serverInfo: peer })],
  "L-8": [asks(0, methods.initialize, { protocolVersion: "1.0", capabilities: {}, clientInfo: peer })],
  "S-4": [server(message({ id: 1, method: methods.listRoots }))],
  "S-5": [client(message({ id: 1, result: { roots: [] } }))],
  "N-1": [speaks(1, methods.listTools), answers(1, { tools: [], ttlMs: 0, cacheScope: "public" })],
  "N-2": [lists],
  "N-3": [speaks(1, methods.listTools), fails(1, { code: -32_050, message: "Busy" })],
  "N-4": [speaks(1, methods.listTools), fails(1, { code: -32_001, message: "Busy" })],
  "M-1": [asks(1, "weather/today")],
  "M-2": [serverNotifies("notifications/rain")],
  "M-3": [asks(1, "resources/get", { uri: "file:///a.txt" })],
  "M-4": [asks(1, methods.createMessage, { messages: [], maxTokens: 10 })],
  "M-5": [asks(1, methods.callTool, { tool: "add" })],
  "M-6": [lists, answers(1, { tools: "none" })],
  "M-7": [notifies("notifications/cancelled", { requestId: null })],
  "C-1": [asks(1, methods.listPrompts)],
  "C-2": [server(message({ id: 1, method: methods.listRoots }))],
  "C-3": [serverNotifies("notifications/prompts/list_changed")],
  "C-4": [serverNotifies("notifications/resources/updated", { uri: "file:///a.txt" })],
  "C-6": changes("tools"),
  "C-7": changes("resources"),
  "C-8": changes("prompts"),
  "T-2": listed({ name: "add", inputSchema: { type: "string" } }),
  "T-3": listed({ name: "add", inputSchema: { type: "object", properties: { a: { type: "numbr" } } } }),
  "T-5": listed({ name: "add two numbers", inputSchema: { type: "object" } }),
  "T-6": [...listed({ name: "add", inputSchema: { type: "object" } }), asks(2, methods.callTool, { name: "ad" })],
  "T-9": [calls, fails(1, { code: -32_603, message: "Internal error" })],
  "P-1": [calls, progress(1, 8)],
  "P-3": [calls, progress(2), progress(1)],
  "P-4": [calls, answers(1, { content: [] }), progress(1)],
  "X-1": [notifies("notifications/cancelled", { requestId: 5 })],
  "G-1": [asks(1, methods.listTools, { cursor: "page-2" })],
};
