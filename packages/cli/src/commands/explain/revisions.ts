import { messagesOf, methods, type Revision, revisions } from "@parlance/mcp/protocol";
import { type Explanation, facts, specPage } from "./explanation.js";

type Facts = Revision["facts"];

/** Explains a revision: its additions, its removals, and the opening of a conversation. */
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

const asked = "neither side, if the other does not support it: both sides negotiate a revision";

const eras: Readonly<Record<Revision["era"], string>> = {
  handshake:
    "A conversation opens with initialize, its result and notifications/initialized; all later messages belong to it",
  stateless: "There is no handshake: every request has its revision and the capabilities of its client in _meta",
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

/** All methods of a revision, for both sides. */
function namesOf({ requests, notifications, inputRequests }: Revision): ReadonlySet<string> {
  return new Set(
    [requests, notifications].flatMap(({ client, server }) => [...client, ...server]).concat(...inputRequests),
  );
}

/** A fact as text. */
export function word(fact: Facts[keyof Facts]): string {
  return typeof fact === "boolean" ? (fact ? "yes" : "no") : String(fact ?? "left to the server");
}

/** The labels of the facts of a revision. */
export const factWords: Readonly<Record<keyof Facts, string>> = {
  batches: "messages in arrays",
  errorId: "id of an error about an unreadable message",
  negotiation: "operations limited to negotiated capabilities",
  progressMessage: "message in progress notifications",
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
  completionContext: "completions receive the other arguments",
  elicitation: "modes of elicitation",
  samplingTools: "tools in sampling",
  tasks: "tasks",
  httpBinding: "HTTP",
  httpPolling: "streams that end early to be polled",
  httpVersionHeader: "requests that name the revision in a header",
  httpOriginRefusal: "status that refuses a foreign Origin",
  authorization: "authorization",
};

const factNames = Object.keys(factWords) as readonly (keyof Facts)[]; // The keys of the table are those of `Facts`.
