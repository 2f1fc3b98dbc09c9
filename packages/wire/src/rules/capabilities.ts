import { describeValue, methods, notifications, type Revision } from "@parlance/mcp/protocol";
import { type CapabilityUse, isDeclared, usesOf } from "../conversation/capability-use.js";
import type { WireMessage } from "../conversation/message.js";
import type { WireSession } from "../conversation/session.js";
import { byEra, inSchema, negotiated, respected } from "./citations.js";
import type { Finding, Rule } from "./rule.js";

const negotiation = byEra(negotiated.page, "architecture#capability-negotiation");

/** The rules on the use of capabilities that the other side must have declared. */
export const capabilityRules: readonly Rule[] = [
  {
    id: "C-1",
    level: byEra(negotiated.level, "may"),
    party: "client",
    kinds: ["req"],
    from: "client",
    demands: "A client sends only requests for capabilities that the server has declared",
    sentence: byEra(negotiated.sentence("… Only use capabilities that were successfully negotiated"), respected),
    page: negotiation,
    on: "message",
    check: undeclared(({ declarer }) => declarer === "server"),
  },
  {
    id: "C-2",
    level: byEra(negotiated.level, "must"),
    party: "server",
    kinds: ["req", "res"],
    from: "server",
    demands: "A server sends only requests for capabilities that the client has declared",
    sentence: byEra(
      negotiated.sentence("… Only use capabilities that were successfully negotiated"),
      "Servers MUST NOT send an `inputRequests` that the client has not declared support for in its capabilities.",
    ),
    page: byEra(negotiated.page, "basic/patterns/mrtr#server-requirements-basic-workflow"),
    on: "message",
    check: undeclared(({ declarer }) => declarer === "client"),
  },
  {
    id: "C-3",
    level: byEra(negotiated.level, "may"),
    party: "either",
    kinds: ["ntf"],
    demands: "A side sends only notifications of capabilities that it has declared",
    sentence: byEra(negotiated.sentence("… Only use capabilities that were successfully negotiated"), respected),
    page: negotiation,
    on: "message",
    check: undeclared(({ method }) => method !== notifications.message),
  },
  {
    id: "C-4",
    level: "may",
    party: "server",
    kinds: ["ntf"],
    from: "server",
    methods: [notifications.resourceUpdated],
    demands: "A server sends resources/updated only to clients that have subscribed to a resource",
    applies: ({ era }) => era === "handshake",
    sentence: "This should only be sent if the client previously sent a resources/subscribe request.",
    page: inSchema("resourceupdatednotification"),
    on: "message",
    *check({ params }, session) {
      if (!session.isWhole) return;
      // The changed resource may be below the subscribed one, so any subscription is enough.
      const isAsked = session.pending.some(({ request }) => request.method === methods.subscribe);
      if (session.subscriptions.size === 0 && !isAsked)
        yield { says: `the client has not subscribed to ${describeValue(params.uri)}`, pointer: "/params/uri" };
    },
  },
  {
    id: "C-5",
    level: "must",
    party: "server",
    kinds: ["ntf"],
    methods: [notifications.message],
    demands: "A server that sends log messages declares the logging capability",
    sentence: "Servers that emit log message notifications MUST declare the `logging` capability",
    page: "server/utilities/logging#capabilities",
    on: "message",
    check: undeclared(({ method }) => method === notifications.message),
  },
];

/** Finds the uses of undeclared capabilities. */
function undeclared(concerns: (use: CapabilityUse) => boolean) {
  return function* (message: WireMessage, session: WireSession, revision: Revision): Iterable<Finding> {
    for (const use of usesOf(message, session, revision)) {
      const { path, method, pointer, declarer, declared } = use;
      if (concerns(use) && declared !== undefined && !isDeclared(path, declared))
        yield { says: `${method} needs the capability ${path}, which the ${declarer} has not declared`, pointer };
    }
  };
}
