import { messagesOf, methods, type Revision, revisions } from "@parlance/mcp/protocol";
import { type Explanation, facts, specPage } from "./explanation.js";

type Facts = Revision["facts"];

/** What a revision brought, what it took away, and how a conversation in it opens. */
export function explainRevision(revision: Revision): Explanation {
  const { version, era } = revision;
  const before = revisions[revisions.indexOf(revision) - 1];
  const messages = messagesOf(version);
  const opening =
    era === "stateless"
      ? messages.request(1, methods.discover)
      : messages.request(1, methods.initialize, {
          protocolVersion: version,
          capabilities: {},
          clientInfo: { name: "me", version: "1.0" },
        });
  return {
    topic: "revision",
    name: version,
    title: `a revision of MCP, of the ${era} era`,
    says: eras[era],
    facts:
      before === undefined
        ? facts({ has: [...namesOf(revision)].join(", "), "at fault": asked })
        : facts({ ...changes(revision, before), "at fault": asked }),
    wire: [{ from: "client", raw: JSON.stringify(opening) }],
    spec: [specPage(version, before === undefined ? "basic" : "changelog")],
  };
}

const asked = "nobody, where the other side does not speak it: both say what they do, and settle on one";

const eras: Readonly<Record<Revision["era"], string>> = {
  handshake:
    "A conversation opens with initialize, its answer and notifications/initialized, and holds for all that follows",
  stateless:
    "Nothing opens a conversation: every request says in _meta which revision it speaks and what its client can do",
};

function changes(revision: Revision, before: Revision): Readonly<Record<string, string | undefined>> {
  const [has, had] = [namesOf(revision), namesOf(before)];
  const changed = factNames.filter((name) => revision.facts[name] !== before.facts[name]);
  return {
    since: before.version,
    adds: [...has].filter((name) => !had.has(name)).join(", "),
    removes: [...had].filter((name) => !has.has(name)).join(", "),
    changes: changed.map((name) => `${factWords[name]}: ${word(revision.facts[name])}`).join("; "),
  };
}

/** Everything that either side may send or ask. */
function namesOf({ requests, notifications, inputRequests }: Revision): ReadonlySet<string> {
  return new Set(
    [requests, notifications].flatMap(({ client, server }) => [...client, ...server]).concat(...inputRequests),
  );
}

function word(fact: Facts[keyof Facts]): string {
  return typeof fact === "boolean" ? (fact ? "yes" : "no") : String(fact ?? "left to the server");
}

const factWords: Readonly<Record<keyof Facts, string>> = {
  batches: "messages in arrays",
  errorId: "id of an error about what cannot be read",
  negotiation: "keeping to what was negotiated",
  progressMessage: "progress in words",
  titles: "titles",
  icons: "icons",
  itemMeta: "_meta of items",
  metaKeys: "names in _meta",
  audio: "audio content",
  resourceLinks: "links to resources in content",
  toolAnnotations: "annotations of tools",
  structuredContent: "structuredContent of tools",
  toolSchemas: "dialect of tool schemas",
  toolArgumentErrors: "how a tool refuses arguments",
  completionsCapability: "capability for completions",
  completionContext: "completions know settled arguments",
  elicitation: "what a person can be asked",
  samplingTools: "tools in sampling",
  tasks: "tasks",
  httpBinding: "HTTP",
  httpPolling: "streams that end early to be polled",
  httpVersionHeader: "requests that name the revision in a header",
  httpOriginRefusal: "status that refuses a foreign Origin",
  authorization: "authorization",
};

const factNames = Object.keys(factWords) as readonly (keyof Facts)[]; // The type of the table says so.
