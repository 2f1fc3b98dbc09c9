import { describeValue, isObject, metaKeys, methods, notifications } from "@parlance/mcp/protocol";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import { metaOf } from "../conversation/operations.js";
import { isStateless } from "./citations.js";
import { before, byOnly, nothing, put, replaced, waitingRequests } from "./corrections/edits.js";
import type { MessageRule } from "./rule.js";

const page = "basic/patterns/subscriptions";
const place = "/params/_meta/io.modelcontextprotocol~1subscriptionId";

/** The rules on the notifications of `subscriptions/listen`. */
export const subscriptionRules: readonly MessageRule[] = [
  {
    id: "U-1",
    level: "must",
    party: "server",
    kinds: ["ntf"],
    demands: "A change notification has the id of its subscriptions/listen request",
    applies: isStateless,
    sentence:
      "the server MUST include `io.modelcontextprotocol/subscriptionId` in `_meta` so the client can correlate the notification with the originating subscription request.",
    page: "basic#meta",
    correct: ({ subject, session }) => {
      const open = waitingRequests(subject, "client", session).filter(isListening);
      return byOnly(open, ({ request }) => put(subject.node, place, request.id));
    },
    *check(message, { isWhole }) {
      if (!isDelivered(message) || !isWhole) return;
      const id = metaOf(message.params)[metaKeys.subscriptionId];
      if (id === undefined) yield { says: `it has no ${metaKeys.subscriptionId}`, pointer: "/params/_meta" };
      else if (listening(message) === undefined)
        yield { says: `no subscriptions/listen has the id ${describeValue(id)}`, pointer: place };
    },
  },
  {
    id: "U-2",
    level: "must",
    party: "server",
    kinds: ["ntf"],
    demands: "The first notification of a subscription is its acknowledgement",
    applies: isStateless,
    sentence:
      "The server MUST send `notifications/subscriptions/acknowledged` as the first message carrying the subscription's ID in `_meta` under `io.modelcontextprotocol/subscriptionId`, and MUST NOT send any notification on the subscription before it.",
    page: `${page}#acknowledgment`,
    correct: ({ subject }) => {
      const request = listening(subject)?.request;
      const meta = { [metaKeys.subscriptionId]: request?.member("id") };
      const params = { notifications: request?.params.notifications, _meta: meta };
      return request && before(subject, { method: notifications.acknowledged, params });
    },
    *check(message, { isWhole }) {
      const operation = listening(message);
      if (!isDelivered(message) || operation === undefined || !isWhole) return;
      const isFirst = message.method === notifications.acknowledged;
      const isAcknowledged = operation.notices.some(({ method }) => method === notifications.acknowledged);
      if (!isFirst && !isAcknowledged)
        yield { says: `${message.method} comes before ${notifications.acknowledged}`, pointer: "/method" };
    },
  },
  {
    id: "U-3",
    level: "must",
    party: "server",
    kinds: ["ntf"],
    demands: "A subscription gets only notifications that match its filter",
    applies: isStateless,
    sentence: "The server MUST NOT send notification types the client has not explicitly requested.",
    page: `${page}#opening-a-stream`,
    correct: nothing,
    *check(message) {
      const { method = "" } = message;
      const operation = listening(message);
      const member = filterMembers.get(method);
      if (operation === undefined || member === undefined) return;
      const { notifications: filter } = operation.request.params;
      const wanted = isObject(filter) ? filter[member] : undefined;
      // The changed resource may be below the requested one, so any request is enough.
      if (wanted !== true && !(Array.isArray(wanted) && wanted.length > 0))
        yield { says: `frame ${operation.request.frame.n} does not ask for ${member}`, pointer: "/method" };
    },
  },
  {
    id: "U-4",
    level: "should",
    party: "server",
    kinds: ["ntf"],
    demands: "A subscription that the server has ended gets no notifications",
    applies: isStateless,
    sentence: "The final JSON-RPC response SHOULD terminate the stream.",
    page: "basic/transports/streamable-http#receiving-messages",
    correct: nothing,
    *check(message) {
      const answer = listening(message)?.answer;
      if (isDelivered(message) && answer !== undefined)
        yield { says: `frame ${answer.frame.n} has ended the subscription`, pointer: place };
    },
  },
  {
    id: "U-5",
    level: "must",
    party: "server",
    kinds: ["res"],
    methods: [methods.listen],
    demands: "The result that ends a subscription has the id of its request",
    applies: isStateless,
    sentence:
      "The value is the JSON-RPC ID of the `subscriptions/listen` request that opened the stream (and equals this response's `id`).",
    page: "schema#subscriptionslistenresultmetaobject",
    correct: ({ subject, pointer }) => replaced(subject.node, pointer, subject.operation?.request.id),
    *check({ result, operation }) {
      if (result === undefined || operation === undefined) return;
      const id = metaOf(result)[metaKeys.subscriptionId];
      const own = operation.request.member("id");
      if (id !== undefined && id !== own)
        yield {
          says: `it must be ${describeValue(own)}, got ${describeValue(id)}`,
          pointer: place.replace("/params", "/result"),
        };
    },
  },
];

/** The member of a filter that asks for a notification. */
const filterMembers: ReadonlyMap<string, string> = new Map([
  [notifications.toolsChanged, "toolsListChanged"],
  [notifications.promptsChanged, "promptsListChanged"],
  [notifications.resourcesChanged, "resourcesListChanged"],
  [notifications.resourceUpdated, "resourceSubscriptions"],
]);

function isDelivered({ kind, from, method = "" }: WireMessage): boolean {
  return kind === "ntf" && from === "server" && (filterMembers.has(method) || method === notifications.acknowledged);
}

function isListening({ request }: RecordedOperation): boolean {
  return request.method === methods.listen;
}

/** The subscription that a notification names. */
function listening({ kind, operation }: WireMessage): WireMessage["operation"] {
  return kind === "ntf" && operation?.request.method === methods.listen ? operation : undefined;
}
