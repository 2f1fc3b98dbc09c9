import {
  describeValue,
  isProtocolMethod,
  methodAliases,
  methods,
  notifications,
  type Revision,
  revisions,
} from "@parlance/mcp/protocol";
import type { MessageKind, WireMessage } from "../conversation/message.js";
import { otherSide } from "../recording/frame.js";
import { byEra, inSchema, isStateless, negotiated, ofSchema } from "./citations.js";
import { replaced, sameWords } from "./corrections/edits.js";
import type { Correction, Faulty, MessageRule } from "./rule.js";
import { extensionsOf } from "./stateless.js";

const known: ReadonlySet<string> = new Set(Object.values(notifications));

/** The rules on the methods of a revision, and on their senders. */
export const methodRules: readonly MessageRule[] = [
  {
    id: "M-1",
    level: "may",
    party: "either",
    kinds: ["req"],
    demands: "A request method that no revision has belongs to an extension, or is unknown to the other side",
    page: "basic",
    correct: meantMethod,
    *check({ method }) {
      if (method === undefined || methodAliases.has(method) || isProtocolMethod(method)) return;
      if (!method.startsWith("rpc.") && !method.startsWith("notifications/"))
        yield { says: `no revision has the request ${describeValue(method)}`, pointer: "/method" };
    },
  },
  {
    id: "M-2",
    level: "may",
    party: "either",
    kinds: ["ntf"],
    demands: "A notification method that no revision has belongs to an extension, or is ignored by the other side",
    page: "basic",
    correct: meantMethod,
    *check({ method }) {
      if (method === undefined || methodAliases.has(method) || known.has(method)) return;
      if (!method.startsWith("rpc.") && !isProtocolMethod(method))
        yield { says: `no revision has the notification ${describeValue(method)}`, pointer: "/method" };
    },
  },
  {
    id: "M-3",
    level: "may",
    party: "either",
    kinds: ["req", "ntf"],
    demands: "Methods have the names of the specification, not those of tutorials or other protocols",
    page: "basic",
    correct: ({ subject: { node, kind, method = "", from }, revision }) => {
      const meant = methodAliases.get(method)?.method;
      const isSent = meant !== undefined && sendersIn(revision, kind)[from].has(meant);
      return isSent ? replaced(node, "/method", JSON.stringify(meant)) : undefined;
    },
    *check({ method = "" }) {
      const meant = methodAliases.get(method);
      if (meant === undefined) return;
      const from = meant.origin === "tutorials" ? "tutorials use this name" : `it is a name of the ${meant.origin}`;
      yield {
        says: `did you mean ${meant.method}? No revision has ${describeValue(method)}: ${from}`,
        pointer: "/method",
      };
    },
  },
  {
    id: "M-4",
    level: byEra(negotiated.level, "must"),
    party: "either",
    kinds: ["req", "ntf"],
    demands: "A side sends only messages that the negotiated revision allows it to send",
    sentence: byEra(negotiated.sentence("Respect the negotiated protocol version"), ofSchema),
    page: byEra(negotiated.page, inSchema()),
    correct: ({ subject: { kind, method } }) =>
      kind === "ntf" || method === methods.ping ? { is: "nothing" } : undefined,
    *check(message, _session, revision) {
      const { kind, method, from } = message;
      if (method === undefined) return;
      // Another rule reports a server that sends requests where it may not.
      if (kind === "req" && from === "server" && isStateless(revision)) return;
      if (kind === "req" && !isProtocolMethod(method)) return;
      if (kind === "ntf" && !known.has(method)) return;
      if (sendersIn(revision, kind)[from].has(method) || isOfTasks(message, revision)) return;
      yield { says: `${method} ${whose(message, revision)}`, pointer: "/method" };
    },
  },
];

/** The requests or the notifications of a revision, by their senders. */
function sendersIn(revision: Revision, kind: MessageKind): Revision["requests"] {
  return kind === "req" ? revision.requests : revision.notifications;
}

/** The method of the revision that has the same words. */
function meantMethod({ subject, revision }: Faulty<WireMessage>): Correction | undefined {
  const { node, kind, method = "", from } = subject;
  const meant = sameWords(method, sendersIn(revision, kind)[from]);
  return replaced(node, "/method", meant && JSON.stringify(meant));
}

const tasks = "io.modelcontextprotocol/tasks";

/** Whether a request belongs to the tasks extension, whose methods have the names of earlier core methods. */
function isOfTasks({ kind, method, from, params }: WireMessage, { facts }: Revision): boolean {
  if (facts.tasks !== "extension" || kind !== "req" || from !== "client") return false;
  return (method === "tasks/get" || method === "tasks/cancel") && extensionsOf(params).includes(tasks);
}

/** Why this side may not send a message that some revision has. */
function whose({ kind, method = "", from }: WireMessage, revision: Revision): string {
  const other = otherSide(from);
  if (sendersIn(revision, kind)[other].has(method)) return `is sent by the ${other}, never by the ${from}`;
  const having = revisions.filter((each) => sendersIn(each, kind)[from].has(method)).map(({ version }) => version);
  return having.length === 0
    ? `is never sent by the ${from}`
    : `is not in ${revision.version}: only ${having.join(", ")} ${having.length === 1 ? "has" : "have"} it`;
}
