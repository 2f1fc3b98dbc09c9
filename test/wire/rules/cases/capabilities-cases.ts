import type { Said } from "../../recording/recorded.js";
import type { RuleCase } from "../rule-case.js";
import { answered, asked, heard, type Talk, told } from "../talk.js";

const ofHandshake = (talk: Talk): boolean => !talk.isStateless;
const since =
  (version: string) =>
  (talk: Talk): boolean =>
    talk.version >= version;

const form = { message: "Name?", requestedSchema: { type: "object", properties: {} } };

/** A request of a server, as the era has it: by a request, or inside of a result. */
function question(talk: Talk, method: string, params: Record<string, unknown>): Said {
  if (!talk.isStateless) return asked(9, method, params);
  return talk.result(1, { resultType: "input_required", inputRequests: { it: { method, params } } });
}

/** Transcripts for the rules of this family. */
export const capabilitiesCases: readonly RuleCase[] = [
  {
    rule: "C-1",
    breaks: (talk) => [...talk.opening({ server: { prompts: {} } }), talk.list(1)],
    found: {
      party: "client",
      pointer: "/method",
      says: "tools/list needs the capability tools, which the server has not declared",
    },
    legal: (talk) => [...talk.opening({ server: { tools: {} } }), talk.list(1)],
  },
  {
    rule: "C-1",
    why: "subscribing",
    where: ofHandshake,
    breaks: (talk) => [
      ...talk.opening({ server: { resources: {} } }),
      talk.request(1, "resources/subscribe", { uri: "a:b" }),
    ],
    found: { party: "client", pointer: "/method", text: '"resources/subscribe"' },
    legal: (talk) => [
      ...talk.opening({ server: { resources: { subscribe: true } } }),
      talk.request(1, "resources/subscribe", { uri: "a:b" }),
    ],
  },
  {
    rule: "C-1",
    why: "completing",
    where: since("2025-03-26"),
    breaks: (talk) => [...talk.opening(), completing(talk)],
    found: { party: "client", pointer: "/method", text: '"completion/complete"' },
    legal: (talk) => [...talk.opening({ server: { completions: {} } }), completing(talk)],
  },
  {
    rule: "C-2",
    why: "for roots",
    breaks: (talk) => [...talk.opening(), talk.call(1), question(talk, "roots/list", {})],
    found: { party: "server", says: "roots/list needs the capability roots, which the client has not declared" },
    legal: (talk) => [...talk.opening({ client: { roots: {} } }), talk.call(1), question(talk, "roots/list", {})],
  },
  {
    rule: "C-2",
    why: "for a page to visit",
    where: since("2025-11-25"),
    breaks: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      question(talk, "elicitation/create", page),
    ],
    found: { party: "server", says: /needs the capability elicitation.url/ },
    legal: (talk) => [
      ...talk.opening({ client: { elicitation: { url: {} } } }),
      talk.call(1),
      question(talk, "elicitation/create", page),
    ],
  },
  {
    rule: "C-2",
    why: "for a form",
    where: since("2025-06-18"),
    breaks: (talk) => [
      ...talk.opening({ client: { sampling: {} } }),
      talk.call(1),
      question(talk, "elicitation/create", form),
    ],
    found: { party: "server" },
    legal: (talk) => [
      ...talk.opening({ client: { elicitation: {} } }),
      talk.call(1),
      question(talk, "elicitation/create", form),
    ],
  },
  {
    rule: "C-2",
    why: "for tools in sampling",
    where: since("2025-11-25"),
    breaks: (talk) => [
      ...talk.opening({ client: { sampling: {} } }),
      talk.call(1),
      question(talk, "sampling/createMessage", sampling),
    ],
    found: { party: "server", says: /needs the capability sampling.tools/ },
    legal: (talk) => [
      ...talk.opening({ client: { sampling: { tools: {} } } }),
      talk.call(1),
      question(talk, "sampling/createMessage", sampling),
    ],
  },
  {
    rule: "C-3",
    why: "of lists",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening({ server: { tools: {} } }), heard("notifications/tools/list_changed")],
    found: { party: "server", pointer: "/method", text: '"notifications/tools/list_changed"' },
    legal: (talk) => [
      ...talk.opening({ server: { tools: { listChanged: true } } }),
      heard("notifications/tools/list_changed"),
    ],
  },
  {
    rule: "C-3",
    why: "of lists that are listened to",
    where: (talk) => talk.isStateless,
    breaks: (talk) => changed(talk, { tools: {} }),
    found: { party: "server", pointer: "/method", text: '"notifications/tools/list_changed"' },
    legal: (talk) => changed(talk, { tools: { listChanged: true } }),
  },
  {
    rule: "C-5",
    breaks: (talk) => [...talk.opening(), talk.call(1, "add", verbose(talk)), heard("notifications/message", log)],
    found: { party: "server", pointer: "/method" },
    legal: (talk) => [
      ...talk.opening({ server: { tools: {}, logging: {} } }),
      talk.call(1, "add", verbose(talk)),
      heard("notifications/message", log),
    ],
  },
  {
    rule: "C-3",
    why: "of roots",
    where: ofHandshake,
    breaks: (talk) => [...talk.opening({ client: { roots: {} } }), told("notifications/roots/list_changed")],
    found: { party: "client", pointer: "/method" },
    legal: (talk) => [
      ...talk.opening({ client: { roots: { listChanged: true } } }),
      told("notifications/roots/list_changed"),
      asked(1, "roots/list"),
      answered(1, { roots: [] }),
    ],
  },
  {
    rule: "C-4",
    where: ofHandshake,
    breaks: (talk) => [
      ...talk.opening({ server: { resources: { subscribe: true } } }),
      heard("notifications/resources/updated", { uri: "a:b" }),
    ],
    found: { party: "server", pointer: "/params/uri", text: '"a:b"' },
    legal: (talk) => [
      ...talk.opening({ server: { resources: { subscribe: true } } }),
      talk.request(1, "resources/subscribe", { uri: "a:b" }),
      talk.result(1),
      heard("notifications/resources/updated", { uri: "a:b" }),
    ],
  },
  ...(["tools", "resources", "prompts"] as const).map((member): RuleCase => {
    const own = { tools: { inputSchema: { type: "object" } }, resources: { uri: "a:b" }, prompts: {} }[member];
    const item = (name: string) => ({ name, ...own, ...(member === "resources" && { uri: `a:${name}` }) });
    const lists = (talk: Talk, id: number, ...names: readonly string[]): readonly Said[] => [
      talk.request(id, `${member}/list`),
      talk.result(id, { [member]: names.map(item) }),
    ];
    const opening = (talk: Talk) => talk.opening({ server: { [member]: { listChanged: true } } });
    return {
      rule: { tools: "C-6", resources: "C-7", prompts: "C-8" }[member],
      where: ofHandshake,
      stdioOnly: "over HTTP the notification has a stream of its own, which need not be open",
      breaks: (talk) => [...opening(talk), ...lists(talk, 1, "one"), ...lists(talk, 2, "one", "two")],
      found: {
        party: "server",
        pointer: `/result/${member}`,
        says: `${member === "resources" ? '"a:two"' : '"two"'} was added since frame 5, without notifications/${member}/list_changed`,
      },
      legal: (talk) => [
        ...opening(talk),
        ...lists(talk, 1, "one"),
        ...lists(talk, 2, "one"),
        heard(`notifications/${member}/list_changed`),
        ...lists(talk, 3, "one", "two"),
      ],
    };
  }),
  {
    rule: "C-6",
    why: "a tool that was changed",
    where: ofHandshake,
    stdioOnly: "over HTTP the notification has a stream of its own, which need not be open",
    breaks: (talk) => [...listingTools(talk), talk.list(2), talk.listed(2, [{ ...tool, description: "Adds" }])],
    found: { party: "server", pointer: "/result/tools", says: /^"add" was changed since frame 5, without / },
    // Pages are parts, and a server without listChanged has not said that it notifies.
    legal: (talk) => [
      ...listingTools(talk),
      talk.list(2),
      talk.result(2, { tools: [], nextCursor: "2" }),
      talk.request(3, "tools/list", { cursor: "2" }),
      talk.result(3, { tools: [tool] }),
    ],
  },
  {
    rule: "C-6",
    why: "a tool that is gone",
    where: ofHandshake,
    stdioOnly: "over HTTP the notification has a stream of its own, which need not be open",
    breaks: (talk) => [...listingTools(talk), talk.list(2), talk.listed(2)],
    found: { party: "server", pointer: "/result/tools", says: /^"add" was removed since frame 5, without / },
    legal: (talk) => [...listingTools(talk, {}), talk.list(2), talk.listed(2)],
  },
];

const tool = { name: "add", inputSchema: { type: "object" } };

/** An opening, and the list of one tool in frame 5. */
function listingTools(
  talk: Talk,
  declared: Readonly<Record<string, unknown>> = { listChanged: true },
): readonly Said[] {
  return [...talk.opening({ server: { tools: declared } }), talk.list(1), talk.listed(1, [tool])];
}

const log = { level: "info", data: "x" };
const page = { mode: "url", message: "Go", url: "https://example.com/", elicitationId: "e" };
const sampling = { messages: [], maxTokens: 1, tools: [] };

/** The metadata that requests log messages, where every request has it. */
function verbose(talk: Talk): Readonly<Record<string, unknown>> {
  return talk.isStateless ? { "io.modelcontextprotocol/logLevel": "debug" } : {};
}

function completing(talk: Talk): Said {
  return talk.request(1, "completion/complete", {
    ref: { type: "ref/prompt", name: "p" },
    argument: { name: "a", value: "" },
  });
}

/** A change of tools that a client listens to. */
function changed(talk: Talk, server: Readonly<Record<string, unknown>>): readonly Said[] {
  const filter = { notifications: { toolsListChanged: true } };
  const meta = { _meta: { "io.modelcontextprotocol/subscriptionId": "sub" } };
  return [
    ...talk.opening({ server }),
    talk.request("sub", "subscriptions/listen", filter),
    heard("notifications/subscriptions/acknowledged", { ...filter, ...meta }),
    heard("notifications/tools/list_changed", meta),
  ];
}
