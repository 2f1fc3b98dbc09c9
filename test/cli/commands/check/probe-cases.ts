import { type Fields, failure, type Quirk } from "./probe-server.js";
import { protectedServer } from "./protected-probe-server.js";

/** A server that a probe fails, because of one thing that it does otherwise. */
export interface ProbeCase {
  readonly probe: string;
  readonly quirk: Quirk;
  /** The finding on it. */
  readonly says: RegExp;
  /** It is a note, although the sentence of the probe demands more. */
  readonly isNote?: true;
  /** It answers nothing, so that there is no use in waiting. */
  readonly isSilent?: true;
  /** Over which transport. Default: all that the probe has. */
  readonly only?: "channel" | "http";
}

const result = (id: unknown, value: object = {}): readonly unknown[] => [{ jsonrpc: "2.0", id, result: value }];
const paramsOf = ({ params }: Fields): Fields => (params ?? {}) as Fields; // A probe sends none but objects there.

/** Answers a method with a result, where its params are such. */
function answering(method: string, value: object = {}, test: (params: Fields) => boolean = () => true): Quirk {
  return {
    frame: (_text, message) =>
      message.method === method && test(paramsOf(message)) ? result(message.id, value) : undefined,
  };
}

/** Answers nothing any more, once it has got something. */
function stuckBy(test: (text: string, message: Fields) => boolean): Quirk {
  return {
    frame(text, message, server) {
      if (!test(text, message)) return undefined;
      server.isStuck = true;
      return [];
    },
  };
}

const refuses = (method: string): Quirk => ({
  frame: (_text, { method: got, id }) => (got === method ? [failure(id, -32_603)] : undefined),
});
const isUnknown = ({ name }: Fields): boolean => name === "parlance-no-such-thing";
const isStrange = (method: unknown): boolean => method === "notifications/parlance-no-such-thing";

/** One for each probe at least, and two where an answer is a note and silence is not. */
export const probeCases: readonly ProbeCase[] = [
  { probe: "XL-1", quirk: answering("ping", { pong: true }), says: /^it has "pong"$/ },
  { probe: "XL-2", quirk: answering("tools/list", { tools: [] }), says: /^a result .* expected error/ },
  {
    probe: "XL-3",
    quirk: { frame: (text, { id }) => (text.includes("1999-12-31") ? result(id) : undefined) },
    says: /^a result .* expected error -32022$/,
  },
  { probe: "XL-4", quirk: answering("ping"), says: /expected error -32601$/ },
  {
    probe: "XL-5",
    quirk: {
      frame: (_text, { method, id }, { revision: { version } }) =>
        method === "server/discover" ? result(id, { supportedVersions: [version], capabilities: {} }) : undefined,
    },
    says: /^it does not/,
  },
  { probe: "XM-1", quirk: answering("parlance/no-such-method"), says: /^a result .* expected error -32601$/ },
  {
    probe: "XM-1",
    quirk: {
      frame: (_text, { method, id }) => (method === "parlance/no-such-method" ? [failure(id, -32_600)] : undefined),
    },
    says: /^error -32600/,
    isNote: true,
  },
  {
    probe: "XM-2",
    quirk: { frame: (_text, { id }) => (id === "parlance-7" ? result(7) : undefined) },
    says: /^there was no answer with the id "parlance-7"/,
    isSilent: true,
  },
  {
    probe: "XM-3",
    quirk: { frame: (_text, { id }) => (id === Number.MAX_SAFE_INTEGER ? result(9_007_199_254_740_992) : undefined) },
    says: /^there was no answer with the id 9007199254740991/,
    isSilent: true,
  },
  {
    probe: "XM-12",
    quirk: { frame: (_text, { id }) => (id === 0 ? [] : undefined) },
    says: /^there was no answer with the id 0/,
    isSilent: true,
  },
  {
    probe: "XM-13",
    quirk: {
      frame: (_text, { id }) => (String(id).includes("\u{1F642}") ? result("parlance-\uFFFD\uFFFD") : undefined),
    },
    says: /^there was no answer with the id "parlance-\u{1F642}"/u,
    isSilent: true,
  },
  {
    probe: "XM-4",
    quirk: { frame: (_text, { method }) => (isStrange(method) ? [failure(null, -32_601)] : undefined) },
    says: /^it was answered with error -32601/,
    only: "channel",
  },
  {
    probe: "XM-4",
    quirk: { frame: (_text, { method }) => (isStrange(method) ? [failure(undefined, -32_601)] : undefined) },
    says: /^it was answered with error -32601/,
    only: "http",
  },
  {
    probe: "XM-4",
    quirk: { frame: (_text, { method }) => (isStrange(method) ? result(null) : undefined) },
    says: /^it was answered with a result \{\}/,
  },
  {
    probe: "XM-4",
    quirk: { frame: (_text, { method }) => (isStrange(method) ? result(undefined) : undefined) },
    says: /^it was answered with a result \{\}/,
  },
  { probe: "XM-5", quirk: stuckBy((text) => text.includes('"broken"')), says: /was not answered/, isSilent: true },
  {
    probe: "XM-5",
    quirk: { frame: (text) => (text.includes('"broken"') ? [failure(null, -32_600)] : undefined) },
    says: /^it was answered with error -32600/,
    isNote: true,
  },
  {
    probe: "XM-6",
    quirk: stuckBy((text) => text === "null"),
    says: /^after null: .* was not answered/,
    isSilent: true,
  },
  {
    probe: "XM-7",
    quirk: { frame: (text, { id }) => (text.includes('"1.0"') ? result(id) : undefined) },
    says: /^it was answered with a result/,
    isNote: true,
  },
  {
    probe: "XM-8",
    quirk: { frame: (text) => (text.startsWith("[") ? [failure(null, -32_600)] : undefined) },
    says: /^(?:no answer|error -32600)/,
    isSilent: true,
  },
  {
    probe: "XM-9",
    quirk: { frame: (_text, { method = "" }, { asked }) => ((asked.get(String(method)) ?? 0) > 12 ? [] : undefined) },
    says: /of 20 got no response with their id$/,
    isSilent: true,
  },
  {
    probe: "XM-10",
    quirk: stuckBy((_text, { method }) => method === "notifications/cancelled"),
    says: /was not answered/,
    isSilent: true,
  },
  {
    probe: "XM-10",
    quirk: {
      frame: (_text, { method, params }) =>
        method === "notifications/cancelled" ? result((params as Fields | undefined)?.requestId) : undefined,
    },
    says: /^it was answered with a result/,
  },
  {
    probe: "XM-10",
    quirk: {
      frame: (_text, { method }) => (method === "notifications/cancelled" ? [failure(null, -32_601)] : undefined),
    },
    says: /^it was answered with error -32601/,
    only: "channel",
  },
  {
    probe: "XM-11",
    quirk: { frame: (_text, { id, params }) => (Array.isArray(params) ? result(id, { tools: [] }) : undefined) },
    says: /^a result .* expected error/,
  },
  ...(
    [
      ["XF-1", "tools/list", "tools"],
      ["XF-2", "resources/list", "resources"],
      ["XF-3", "resources/templates/list", "resourceTemplates"],
      ["XF-4", "prompts/list", "prompts"],
    ] as const
  ).flatMap(([probe, method, member]): readonly ProbeCase[] => [
    { probe, quirk: answering(method, { [member]: [], nextCursor: "2" }), says: /^page 2 leads back to "2"$/ },
    { probe, quirk: answering(method, {}), says: new RegExp(`^page 1 has no ${member}`) },
  ]),
  {
    probe: "XF-3",
    quirk: refuses("resources/templates/list"),
    says: /^error -32603 .* expected a result$/,
    isNote: true,
  },
  {
    probe: "XF-5",
    quirk: answering("tools/list", { tools: [] }, ({ cursor }) => cursor === "parlance-no-such-thing"),
    says: /^tools\/list: a result/,
  },
  {
    probe: "XF-6",
    quirk: answering("tools/call", { content: [] }, isUnknown),
    says: /^a result .* expected error -32602$/,
  },
  { probe: "XF-7", quirk: answering("tools/call", { content: [] }), says: /^"add" ran without them$/ },
  { probe: "XF-8", quirk: refuses("tools/call"), says: /^"now": error -32603 .* expected a result$/ },
  {
    probe: "XF-8",
    quirk: {
      frame: (_text, { method, id }) =>
        method === "tools/call" ? [failure(id, -32_600, { requiredCapabilities: { roots: {} } })] : undefined,
    },
    says: /^"now": it asks the client \(roots\), which run answers: --roots folder$/,
  },
  { probe: "XF-9", quirk: refuses("resources/read"), says: /^"a:b": error -32603/ },
  {
    probe: "XF-10",
    quirk: answering("resources/read", { contents: [] }, ({ uri }) => uri !== "a:b"),
    says: /^a result .* expected error/,
  },
  {
    probe: "XF-11",
    quirk: answering("prompts/get", { messages: [] }, isUnknown),
    says: /^a result .* expected error -32602$/,
  },
  { probe: "XF-12", quirk: answering("prompts/get", { messages: [] }), says: /^a result .* expected error -32602$/ },
  { probe: "XF-13", quirk: answering("logging/setLevel"), says: /^a result .* expected error -32602$/ },
  ...(
    [
      ["XH-1", "origin", /^https/, /^the status is 200, expected/],
      ["XH-2", "content-type", /^text\/plain/, /^the status is 200, expected a refusal$/],
      ["XH-3", "accept", /^text\/html/, /^the status is 200, expected a refusal$/],
      ["XH-6", "mcp-protocol-version", /^yesterday$/, /^the status is 200, expected 400$/],
    ] as const
  ).map(([probe, header, value, says]): ProbeCase => {
    return {
      probe,
      says,
      quirk: { http: ({ headers }) => (value.test(String(headers[header])) ? [200, {}] : undefined) },
    };
  }),
  {
    probe: "XH-4",
    quirk: { http: (_request, body) => (body.includes("parlance-no-such-thing") ? [200] : undefined) },
    says: /^the status is 200, expected 202$/,
  },
  {
    probe: "XH-5",
    quirk: { http: ({ method }) => (method === "DELETE" ? [200] : undefined) },
    says: /^the status is 200, expected 404$/,
  },
  {
    probe: "XH-7",
    quirk: {
      http: ({ headers }, body) =>
        headers["mcp-method"] === "tools/list" && body.includes("server/discover")
          ? [200, { id: 101, result: {} }]
          : undefined,
    },
    says: /expected error -32020$/,
  },
  {
    probe: "XH-8",
    quirk: { http: ({ method }) => (method === "GET" ? [404] : undefined) },
    says: /^the status is 404, expected 200 or 405$/,
  },
  {
    probe: "XH-9",
    quirk: { http: ({ headers }) => (headers["mcp-session-id"] === "parlance-no-such-session" ? [400] : undefined) },
    says: /^the status is 400, expected 404$/,
  },
  { probe: "XA-1", quirk: protectedServer({ unauthorized: 403 }), says: /^the status is 403, expected 401$/ },
  {
    probe: "XA-2",
    quirk: protectedServer({ challenge: () => "Bearer", metadata: () => undefined }),
    says: /^the challenge has no resource_metadata/,
  },
  { probe: "XA-2", quirk: protectedServer({ metadata: () => undefined }), says: /^there is no metadata at / },
  {
    probe: "XA-3",
    quirk: protectedServer({ metadata: (sound) => ({ ...sound, resource: "https://other.example/mcp" }) }),
    says: /^`resource` is "https:\/\/other.example\/mcp", expected /,
  },
  {
    probe: "XA-3",
    quirk: protectedServer({ metadata: (sound, origin) => ({ ...sound, resource: origin }) }),
    says: /^`resource` is "http:\/\/127.0.0.1:\d+", expected .* at \/.well-known\/oauth-protected-resource\/mcp$/,
    isNote: true,
  },
  {
    probe: "XA-4",
    quirk: protectedServer({ metadata: (sound) => ({ ...sound, authorization_servers: [] }) }),
    says: /^`authorization_servers` is \[\]/,
  },
  { probe: "XA-5", quirk: protectedServer({ invalid: 403 }), says: /^a token of arbitrary text gets the status 403/ },
  {
    probe: "XA-6",
    quirk: protectedServer({ challenge: (sound) => sound.replace(', error="invalid_token"', "") }),
    says: /^a token of arbitrary text gets a challenge without an error$/,
  },
  { probe: "XA-7", quirk: protectedServer({ accepts: "foreign" }), says: /^the status is 200, expected a refusal$/ },
  { probe: "XA-8", quirk: protectedServer({ accepts: "query" }), says: /^the status is 200, expected 401$/ },
  { probe: "XA-9", quirk: protectedServer({ scope: "" }), says: /^the 403 for "prompts\/list" names no scope$/ },
  { probe: "XA-10", quirk: protectedServer({ accepts: "otherUser" }), says: /^the status is 200, expected a refusal$/ },
  {
    probe: "XA-11",
    quirk: protectedServer({ metadata: (sound) => ({ ...sound, scopes_supported: ["offline_access"] }) }),
    says: /^the metadata does$/,
  },
];
