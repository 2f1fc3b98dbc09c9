import { describeValue, isObject, loggingLevels, metaKeys, methods, notifications } from "@parlance/mcp/protocol";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import { metaOf } from "../conversation/operations.js";
import type { WireSession } from "../conversation/session.js";
import { isHandshake, isStateless } from "./citations.js";
import { nothing, replaced, without } from "./corrections/edits.js";
import { lastCursor } from "./corrections/meant-values.js";
import type { Clause, MessageRule } from "./rule.js";

const lists: readonly string[] = [
  methods.listTools,
  methods.listPrompts,
  methods.listResources,
  methods.listResourceTemplates,
  methods.listTasks,
];

/** The rules on pages of lists, and on log messages. */
export const utilityRules: readonly MessageRule[] = [
  {
    id: "G-1",
    level: "must",
    party: "client",
    kinds: ["req"],
    from: "client",
    methods: lists,
    demands: "A cursor is an unchanged nextCursor that the server sent in the same session",
    applies: isHandshake,
    sentence:
      "Clients MUST treat cursors as opaque tokens: … Don't attempt to parse or modify cursors … Don't persist cursors across sessions",
    page: "server/utilities/pagination#implementation-guidelines",
    correct: ({ subject, pointer, session }) =>
      replaced(subject.node, pointer, lastCursor(subject, session)) ?? without(subject.node, pointer),
    *check({ params }, { cursors, isWhole }) {
      const { cursor } = params;
      if (typeof cursor !== "string" || !isWhole) return;
      if (!cursors.has(cursor))
        yield { says: `the server has given no cursor ${describeValue(cursor)}`, pointer: "/params/cursor" };
    },
  },
  {
    id: "V-1",
    level: "must",
    party: "server",
    kinds: ["ntf"],
    from: "server",
    methods: [notifications.message],
    demands: "A server sends log messages only for requests with a logLevel, and none below that level",
    applies: isStateless,
    sentence: "The server MUST NOT emit `notifications/message` for a request that does not include this field.",
    page: "server/utilities/logging#per-request-log-level",
    correct: nothing,
    *check(message, session) {
      const { params } = message;
      if (!session.isWhole) return;
      const wanted = requestsAround(message, session).map(({ request }) =>
        severity(metaOf(request.params)[metaKeys.logLevel]),
      );
      const least = Math.min(...wanted.filter((level) => level >= 0));
      const level = severity(params.level);
      if (least === Number.POSITIVE_INFINITY)
        yield { says: `no request that waits has ${metaKeys.logLevel}`, pointer: "/method" };
      else if (level >= 0 && level < least)
        yield { says: `nothing below ${loggingLevels[least]} was asked for`, pointer: "/params/level", by: askedLevel };
    },
  },
  {
    id: "V-2",
    level: "may",
    party: "server",
    kinds: ["ntf"],
    from: "server",
    methods: [notifications.message],
    demands: "A server sends no log messages below the level that was set",
    applies: isHandshake,
    sentence: "To configure the minimum log level, clients MAY send a `logging/setLevel` request:",
    page: "server/utilities/logging#setting-log-level",
    correct: nothing,
    *check({ params }, { logLevel }) {
      if (logLevel === undefined) return;
      const level = severity(params.level);
      if (level >= 0 && level < severity(logLevel))
        yield { says: `nothing below ${describeValue(logLevel)} was asked for`, pointer: "/params/level" };
    },
  },
];

/** The sentence permits messages that are severe enough, and does not expressly forbid others. */
const askedLevel: Clause = {
  level: "may",
  sentence:
    "When the field is present, the server MAY send `notifications/message` notifications at or above the requested level on the response stream of that request, before the final response.",
  page: "server/utilities/logging#per-request-log-level",
};

/** The severity of a level; negative for an unknown level. */
function severity(level: unknown): number {
  return (loggingLevels as readonly unknown[]).indexOf(level);
}

/** The requests that a server may be logging for: that of the same exchange, or all pending ones. */
function requestsAround({ frame }: WireMessage, { pending }: WireSession): readonly RecordedOperation[] {
  const exchange = frame.entry.req;
  const near = pending.filter(({ request }) => request.frame.entry.req === exchange);
  return near.filter(({ request }) => request.from === "client" && isObject(request.params));
}
