import { describeValue, isObject, methods, notifications, type Revision } from "@parlance/mcp/protocol";
import { type CapabilityUse, changeableLists, isDeclared, usesOf } from "../conversation/capability-use.js";
import type { WireMessage } from "../conversation/message.js";
import type { WireSession } from "../conversation/session.js";
import { byEra, inSchema, isHandshake, negotiated, respected } from "./citations.js";
import { before, nothing } from "./corrections/edits.js";
import type { Finding, MessageRule } from "./rule.js";

const negotiation = byEra(negotiated.page, "architecture#capability-negotiation");

const changeRules = { tools: "C-6", resources: "C-7", prompts: "C-8" } as const;

/** The use of capabilities that the other side must have declared, and of those that a side has declared itself. */
export const capabilityRules: readonly MessageRule[] = [
  {
    id: "C-1",
    level: byEra(negotiated.level, "may"),
    party: "client",
    kinds: ["req"],
    from: "client",
    demands: "A client sends only requests for capabilities that the server has declared",
    sentence: byEra(negotiated.sentence("… Only use capabilities that were successfully negotiated"), respected),
    page: negotiation,
    correct: nothing,
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
    correct: ({ subject: { kind } }) => (kind === "req" ? nothing() : undefined),
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
    correct: nothing,
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
    applies: isHandshake,
    sentence: "This should only be sent if the client previously sent a resources/subscribe request.",
    page: inSchema("resourceupdatednotification"),
    correct: nothing,
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
    correct: nothing,
    check: undeclared(({ method }) => method === notifications.message),
  },
  ...changeableLists.map(
    ({ member, list, changed, capability }): MessageRule => ({
      id: changeRules[member],
      level: "should",
      party: "server",
      kinds: ["res"],
      methods: [list],
      demands: `A server that has declared ${capability} sends list_changed when its list of ${member} changes`,
      applies: isHandshake,
      sentence: `When the list of available ${member} changes, servers that declared the \`listChanged\` capability SHOULD send a notification`,
      doubt: "the notification may come after the list",
      page: `server/${member}#list-changed-notification`,
      correct: ({ subject }) => before(subject, { method: changed }),
      *check({ context, result, operation }, { isWhole, lists, serverCapabilities: declared }) {
        const before = lists.get(list);
        const items = result?.[member];
        // Over HTTP a notification has a stream of its own, which need not be open.
        if (before === undefined || !isWhole || context.exchange !== undefined || !Array.isArray(items)) return;
        if (declared === undefined || !isDeclared(capability, declared)) return;
        // Of a part of a list, nothing tells what is missing.
        if (operation?.request.params.cursor !== undefined || result?.nextCursor !== undefined) return;
        const difference = differenceOf(before.items, items);
        if (difference !== undefined)
          yield {
            says: `${difference} since frame ${before.listed.frame.n}, without ${changed}`,
            pointer: `/result/${member}`,
          };
      },
    }),
  ),
];

/** The first definition that differs between two lists, in any order; undefined if there is none. */
function differenceOf(before: readonly unknown[], after: readonly unknown[]): string | undefined {
  const texts = (items: readonly unknown[]): ReadonlySet<string> => new Set(items.map((item) => JSON.stringify(item)));
  const known = texts(before);
  const names = (items: readonly unknown[]): ReadonlySet<unknown> => new Set(items.map(nameOf));
  const [knownNames, foundNames] = [names(before), names(after)];
  const added = after.find((item) => !knownNames.has(nameOf(item)));
  if (added !== undefined) return `${describeValue(nameOf(added))} was added`;
  const removed = before.find((item) => !foundNames.has(nameOf(item)));
  if (removed !== undefined) return `${describeValue(nameOf(removed))} was removed`;
  const changed = after.find((item) => !known.has(JSON.stringify(item)));
  return changed === undefined ? undefined : `${describeValue(nameOf(changed))} was changed`;
}

/** The name or URI that identifies a definition. */
function nameOf(definition: unknown): unknown {
  if (!isObject(definition)) return undefined;
  return definition.uri ?? definition.name;
}

/** Finds the uses of capabilities that the side that should declare them has not declared. */
function undeclared(concerns: (use: CapabilityUse) => boolean) {
  return function* (message: WireMessage, session: WireSession, revision: Revision): Iterable<Finding> {
    for (const use of usesOf(message, session, revision)) {
      const { path, method, pointer, declarer, declared } = use;
      if (concerns(use) && declared !== undefined && !isDeclared(path, declared))
        yield { says: `${method} needs the capability ${path}, which the ${declarer} has not declared`, pointer };
    }
  };
}
