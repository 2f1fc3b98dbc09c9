import { expect } from "vitest";
import type { DriverKind, Fields, Outcome } from "./driver.js";

/** Every revision, oldest first: written out, so that a mistake in the library cannot hide in the tests of it. */
export const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;

type Version = (typeof revisions)[number];

/** Something that is not the same in every revision. */
export interface Difference<Value> {
  /** The page that says so, or the first of them. */
  readonly spec: string;
  readonly by: Readonly<Record<Version, Value>>;
}

/** The difference in a revision. */
export function of<Value>({ by }: Difference<Value>, revision: string): Value {
  const version = revisions.find((each) => each === revision);
  if (version === undefined) throw new RangeError(`there is no revision ${revision}`);
  return by[version];
}

type Since<Value> = Readonly<Record<"2024-11-05", Value>> & Readonly<Partial<Record<Version, Value>>>;

/** Each value holds from its revision on, until the next. */
function difference<Value>(page: string, since: Since<Value>): Difference<Value> {
  let value = since["2024-11-05"];
  const by = revisions.map((version) => {
    value = version in since ? (since[version] as Value) : value;
    return [version, value];
  });
  return { spec: `https://modelcontextprotocol.io/specification/${page}`, by: Object.fromEntries(by) };
}

const icons = [{ src: "https://example.com/icon.png", mimeType: "image/png" }];
const itemMeta = { title: "Title", _meta: { "example.com/a": 1 } };
const undated = { audience: ["user"], priority: 0.5 };
const dated = { ...undated, lastModified: "2025-01-12T15:00:58Z" };

/** A tool with a name only, which takes no arguments. */
function bare(name: string): Fields {
  return { name, inputSchema: { type: "object", additionalProperties: false } };
}

/** The schema of an object with the member `result`, which is of the given one. The dialect is named at the root alone. */
function wrapped({ $schema, ...result }: Fields): Fields {
  return { $schema, type: "object", properties: { result }, required: ["result"] };
}

/** How the definition of a list looks: what it is called, and the words that revisions have added. */
function words(plain: Fields, titled: Fields = {}): Since<Fields> {
  const description = "Description";
  return {
    "2024-11-05": { ...plain, description },
    "2025-06-18": { ...plain, description, ...itemMeta, ...titled },
    "2025-11-25": { ...plain, description, ...itemMeta, ...titled, icons },
  };
}

const tool = { name: "sum", inputSchema: expect.objectContaining({ type: "object" }) };
const hinted = { ...tool, annotations: { readOnlyHint: true } };
const outputSchema = expect.objectContaining({ type: "object" });
const toolWords = words(hinted, { outputSchema });
const $schema = "https://json-schema.org/draft/2020-12/schema";
const numbers = { $schema, type: "array", items: { type: "number" } };
const nothing = { $schema, type: "null" };
const note = { uri: "note:/static", name: "static", mimeType: "text/plain" };
const topic = { name: "topic", description: "What about", required: true };

const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
const audio = { type: "audio", data: "UklGRg==", mimeType: "audio/wav" };
const link = { type: "resource_link", uri: "note:/static", name: "static", title: "Title" };
const embedded = { type: "resource", resource: { uri: "note:/static", mimeType: "text/plain", text: "A note" } };
const text = (words: string): Fields => ({ type: "text", text: words });
const soundless = text("[audio that this revision of the protocol cannot carry: audio/wav]");
const plainBlocks = { image, embedded, text: { ...text("words"), annotations: undated } };
const linkless = text("Resource link: Title\nnote:/static");
const datedText = { ...text("words"), annotations: dated, _meta: { "example.com/a": 1 } };

const declaredBefore = { roots: { listChanged: true }, sampling: {} };
const elicitation = { form: {}, url: {} };
const serverInfo = { name: "matrix", version: "1.2.3" };
const described = { description: "Everything once", websiteUrl: "https://example.com/", icons };
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
};

/** How a call fails that needs what the client has not declared, or the revision does not have. */
function lacking(code: number, requiredCapabilities: Fields): Outcome {
  const path = pathOf(requiredCapabilities).replaceAll(".", "[.]");
  const older = "(, which revision \\d{4}-\\d\\d-\\d\\d does not have)?";
  const message: unknown = expect.stringMatching(`^Missing required client capability: ${path}${older}$`);
  return { error: { code, message: message as string, data: { requiredCapabilities } } };
}

/** The names down to the innermost member. */
function pathOf(required: Fields): string {
  return Object.entries(required)
    .flatMap(([name, inner]) => [name, ...(Object.keys(inner as Fields).length > 0 ? [pathOf(inner as Fields)] : [])])
    .join(".");
}

const noForm = lacking(-32_600, { elicitation: { form: {} } });
const noPage = lacking(-32_600, { elicitation: { url: {} } });

/** A person fills in a form: what they see of it. */
function formSeen(mode: Fields, seats: Fields): Fields {
  const properties = {
    name: { type: "string", minLength: 2 },
    seats: expect.objectContaining({ type: "integer", ...seats }),
    window: { type: "boolean", default: true },
    meal: { type: "string", enum: ["fish", "beans"] },
  };
  return { ...mode, message: "Who travels?", requestedSchema: { type: "object", properties, required: ["name"] } };
}

const fruit = [
  { const: "a", title: "Apple" },
  { const: "p", title: "Pear" },
];
const page = { mode: "url", message: "Log in", url: "https://example.com/login" };

const handshakeOnly = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
const tasks = ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"];
const statelessOnly = ["server/discover", "subscriptions/listen"];
const ofServer = ["sampling/createMessage", "roots/list", "elicitation/create"];

/** Methods by the code that a raw peer is refused them with; the client of this library does not send them. */
function refused(unknown: readonly string[], withoutMeta: readonly string[] = []): Readonly<Record<string, number>> {
  const codes = [...unknown.map((method) => [method, -32_601]), ...withoutMeta.map((method) => [method, -32_602])];
  return Object.fromEntries(codes);
}

const invalidParams = { error: expect.objectContaining({ code: -32_602 }) } as Outcome;

const batchRefused: Readonly<Record<DriverKind, readonly unknown[]>> = {
  client: [{ local: "refused" }],
  "raw peer": [{ error: { code: -32_600, message: "Invalid Request" } }],
};
const batchAnswered = [{ result: { content: [text("one")] } }, { result: { content: [text("two")] } }];

/** All that behaviours may find different, by name. */
export const differences = {
  era: difference<string>("2026-07-28/basic#statelessness", { "2024-11-05": "handshake", "2026-07-28": "stateless" }),
  /** Params of the newest shape that a client of the revision cannot send. */
  absentParams: difference<Readonly<Record<string, readonly string[]>>>("2025-06-18/server/utilities/completion", {
    "2024-11-05": { "completion/complete": ["context"] },
    "2025-06-18": {},
  }),
  /** The capabilities of a client that responds to every request. */
  declared: difference<Fields>("2025-06-18/client/elicitation#capabilities", {
    "2024-11-05": declaredBefore,
    "2025-06-18": { ...declaredBefore, elicitation: {} },
    "2025-11-25": { ...declaredBefore, sampling: { tools: {} }, elicitation },
    "2026-07-28": { roots: {}, sampling: { tools: {} }, elicitation },
  }),
  /** The same as handlers see it: without modes, elicitation means forms. */
  known: difference<Fields>("2025-11-25/client/elicitation#capabilities", {
    "2024-11-05": declaredBefore,
    "2025-06-18": { ...declaredBefore, elicitation: { form: {} } },
    "2025-11-25": { ...declaredBefore, sampling: { tools: {} }, elicitation },
    "2026-07-28": { roots: {}, sampling: { tools: {} }, elicitation },
  }),
  serverInfo: difference<Fields>("2025-11-25/schema#implementation", {
    "2024-11-05": serverInfo,
    "2025-06-18": { ...serverInfo, title: "The matrix" },
    "2025-11-25": { ...serverInfo, title: "The matrix", ...described },
  }),
  capabilities: difference<Fields>("2025-03-26/server/utilities/completion#capabilities", {
    "2024-11-05": capabilities,
    "2025-03-26": { ...capabilities, completions: {} },
  }),

  toolWords: difference<Fields>("2025-11-25/server/tools#tool", {
    ...toolWords,
    "2024-11-05": { ...tool, description: "Description" },
    "2025-03-26": { ...hinted, description: "Description" },
  }),
  /** Tools whose structured output is no object, by name: as they are, or wrapped where it has to be an object. */
  otherStructureWords: difference<Readonly<Record<string, Fields>>>("2025-06-18/server/tools#tool", {
    "2024-11-05": { series: bare("series"), nothing: bare("nothing") },
    "2025-06-18": {
      series: { ...bare("series"), outputSchema: wrapped(numbers) },
      nothing: { ...bare("nothing"), outputSchema: wrapped(nothing) },
    },
    "2026-07-28": {
      series: { ...bare("series"), outputSchema: numbers },
      nothing: { ...bare("nothing"), outputSchema: nothing },
    },
  }),
  resourceWords: difference<Fields>("2025-11-25/server/resources#resource", {
    ...words({ ...note, annotations: dated }),
    "2024-11-05": { ...note, description: "Description", annotations: undated },
  }),
  templateWords: difference<Fields>(
    "2025-11-25/schema#resourcetemplate",
    words({ uriTemplate: "shelf:/{author}/{title}", name: "shelf" }),
  ),
  promptWords: difference<Fields>(
    "2025-11-25/server/prompts#prompt",
    words(
      { name: "ask", arguments: [topic, { name: "tone" }] },
      { arguments: [{ ...topic, title: "Topic" }, { name: "tone" }] },
    ),
  ),

  /** Content by its kind, as tools and prompts give it. */
  blocks: difference<Readonly<Record<string, Fields>>>("2025-06-18/server/tools#tool-result", {
    "2024-11-05": { ...plainBlocks, audio: soundless, link: linkless },
    "2025-03-26": { ...plainBlocks, audio, link: linkless },
    "2025-06-18": { ...plainBlocks, text: datedText, audio, link },
    "2025-11-25": { ...plainBlocks, text: datedText, audio, link: { ...link, icons } },
  }),
  structuredObject: difference<Fields>("2025-06-18/server/tools#structured-content", {
    "2024-11-05": {},
    "2025-06-18": { structuredContent: { sum: 5 } },
  }),
  structuredArray: difference<Fields>("2025-06-18/server/tools#structured-content", {
    "2024-11-05": {},
    "2025-06-18": { structuredContent: { result: [1, 2, 3] } },
    "2026-07-28": { structuredContent: [1, 2, 3] },
  }),
  structuredNull: difference<Fields>("2025-06-18/server/tools#structured-content", {
    "2024-11-05": {},
    "2025-06-18": { structuredContent: { result: null } },
    "2026-07-28": { structuredContent: null },
  }),
  /** A result that says nothing in words. */
  silent: difference<Fields>("2025-06-18/server/tools#structured-content", {
    "2024-11-05": { content: [text('{"said":"nothing"}')] },
    "2025-06-18": { content: [], structuredContent: { said: "nothing" } },
  }),
  resourceNotFound: difference<number>("2026-07-28/server/resources#error-handling", {
    "2024-11-05": -32_002,
    "2026-07-28": -32_602,
  }),
  /** Completions that depend on another argument. */
  completedWithContext: difference<readonly string[]>("2025-06-18/server/utilities/completion", {
    "2024-11-05": ["any book"],
    "2025-06-18": ["moon", "sea"],
  }),

  progressMessage: difference<readonly (string | undefined)[]>("2025-03-26/basic/utilities/progress", {
    "2024-11-05": [undefined, undefined, undefined],
    "2025-03-26": ["step 1", "step 2", "step 3"],
  }),
  /** The log messages of a client that has not said which it wants. */
  loggedUnasked: difference<readonly string[]>("2026-07-28/server/utilities/logging", {
    "2024-11-05": ["info", "notice", "warning", "error", "critical", "alert", "emergency"],
    "2026-07-28": [],
  }),
  /** A level that does not exist is refused when it is set, or with the next call, which carries it; our client refuses it itself. */
  badLevelRefused: difference<Readonly<Record<DriverKind, readonly [when: string, Outcome]>>>(
    "2026-07-28/server/utilities/logging",
    {
      "2024-11-05": { client: ["setting", { local: "refused" }], "raw peer": ["setting", invalidParams] },
      "2026-07-28": { client: ["setting", { local: "refused" }], "raw peer": ["calling", invalidParams] },
    },
  ),
  resultType: difference<string | undefined>("2026-07-28/basic#resulttype", {
    "2024-11-05": undefined,
    "2026-07-28": "complete",
  }),
  /** How long a list may be kept of which the server says nothing, and a resource of which it does. */
  cacheHints: difference<{ readonly list: Fields; readonly resource: Fields }>("2026-07-28/server/utilities/caching", {
    "2024-11-05": { list: {}, resource: {} },
    "2026-07-28": {
      list: { ttlMs: 0, cacheScope: "private" },
      resource: { ttlMs: 60_000, cacheScope: "public" },
    },
  }),
  /** By driver: the two calls of a batch are answered, or the frame is refused. */
  batch: difference<Readonly<Record<DriverKind, readonly unknown[]>>>("2025-03-26/basic#batching", {
    "2024-11-05": batchRefused,
    "2025-03-26": { client: batchAnswered, "raw peer": batchAnswered },
    "2025-06-18": batchRefused,
  }),
  refusedMethods: difference<Readonly<Record<string, number>>>("2026-07-28/changelog", {
    "2024-11-05": refused([...tasks, ...ofServer], statelessOnly),
    "2026-07-28": refused([...handshakeOnly, ...tasks, ...ofServer]),
  }),

  /** The error of a call that needs what the client has not declared. */
  lacking: difference<(required: Fields) => Outcome>("2026-07-28/basic#error-codes", {
    "2024-11-05": (required) => lacking(-32_600, required),
    "2026-07-28": (required) => lacking(-32_021, required),
  }),
  /** The form that a person sees, if there is one. */
  form: difference<Fields | Outcome>("2025-11-25/client/elicitation#requested-schema", {
    "2024-11-05": noForm,
    "2025-06-18": formSeen({}, {}),
    "2025-11-25": formSeen({ mode: "form" }, { default: 1 }),
  }),
  titledChoice: difference<Fields | Outcome>("2025-11-25/client/elicitation#requested-schema", {
    "2024-11-05": noForm,
    "2025-06-18": { type: "string", enum: ["a", "p"], enumNames: ["Apple", "Pear"] },
    "2025-11-25": { type: "string", oneOf: fruit },
  }),
  severalChoices: difference<Fields | Outcome>("2025-11-25/client/elicitation#requested-schema", {
    "2024-11-05": noForm,
    "2025-06-18": {
      error: {
        code: -32_600,
        message:
          'revision 2025-06-18 has no form field for several choices, such as "all": ask for one choice, or for text',
      },
    },
    "2025-11-25": { type: "array", minItems: 1, items: { anyOf: fruit } },
  }),
  page: difference<Fields | Outcome>("2025-11-25/client/elicitation#url-mode-elicitation-requests", {
    "2024-11-05": noPage,
    "2025-11-25": { ...page, elicitationId: expect.any(String) },
    "2026-07-28": page,
  }),
  /** Sampling with tools. */
  agent: difference<Fields | Outcome>("2025-11-25/client/sampling#tool-use-in-sampling", {
    "2024-11-05": lacking(-32_600, { sampling: { tools: {} } }),
    "2025-11-25": expect.objectContaining({
      tools: [{ name: "clock", inputSchema: { type: "object" } }],
      toolChoice: { mode: "required" },
    }),
  }),
};
