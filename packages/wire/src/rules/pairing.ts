import { codes, escapeControls } from "@parlance/mcp/jsonrpc";
import { spokenIn } from "../conversation/exchange.js";
import type { WireMessage } from "../conversation/message.js";
import { otherSide } from "../conversation/operations.js";
import type { WireSession } from "../conversation/session.js";
import { inSchema, ofJsonRpc, onMessages } from "./citations.js";
import { nothing, onlyRequestTo, put, replaced, waitingRequests, without } from "./corrections/edits.js";
import { errorCode } from "./json-rpc.js";
import type { Rule } from "./rule.js";

/** The rules on responses and their requests. */
export const pairingRules: readonly Rule[] = [
  {
    id: "R-5",
    level: "must",
    party: "either",
    kinds: ["res", "err"],
    demands: "A response has the id of its request, including its type, and a request has one response",
    sentence: ({ facts }) =>
      facts.errorId === "required"
        ? "Responses MUST include the same ID as the request they correspond to."
        : "… responses MUST include the same ID as the request they correspond to …",
    page: onMessages("responses"),
    correct: ({ subject, session }) => {
      const { node, context } = subject;
      const { pairing } = context;
      if (pairing?.is === "other type") return replaced(node, "/id", pairing.operation.request.id);
      const id = onlyRequestTo(subject, session)?.request.id;
      if (id !== undefined) return put(node, "/id", id);
      return waitingRequests(subject, otherSide(subject.from), session).length === 0 ? nothing() : undefined;
    },
    on: "message",
    *check(message, session) {
      const { pairing } = message.context;
      if (pairing === undefined || pairing.is === "answer" || namesNothing(message, session)) return;
      const id = escapeControls(message.id ?? "");
      const at = { pointer: "/id" };
      if (message.id === undefined) yield { ...at, says: "it has no id, so it answers nothing" };
      else if (pairing.is === "unknown") {
        if (session.isWhole) yield { ...at, says: `no request has the id ${id}` };
      } else {
        const { request, answer } = pairing.operation;
        const says =
          pairing.is === "other type"
            ? `the request in frame ${request.frame.n} has the id ${escapeControls(request.id ?? "")}, which is not ${id}`
            : `the request with the id ${id} was answered already, by frame ${answer?.frame.n}`;
        yield { ...at, says };
      }
    },
  },
  {
    id: "R-7",
    level: "must",
    party: "either",
    kinds: ["res", "err"],
    demands: "A notification has no response, not even an error",
    sentence: ({ facts }) =>
      facts.httpBinding === "http+sse"
        ? "The Server MUST NOT reply to a Notification, including those that are within a batch request."
        : "The receiver MUST NOT send a response.",
    page: (revision) =>
      revision.facts.httpBinding === "http+sse" ? ofJsonRpc("notification") : onMessages("notifications")(revision),
    correct: nothing,
    on: "message",
    *check(message, session) {
      const told = answeredNotification(message, session);
      if (told !== undefined) yield { says: `it answers the notification in frame ${told.frame.n}` };
    },
  },
  {
    id: "R-13",
    level: "must",
    party: "either",
    kinds: ["err"],
    demands: "An error response to an unreadable message has no id if the schema allows that, else null",
    sentence: ({ facts }) =>
      facts.errorId === "required"
        ? "If there was an error in detecting the id in the Request object (e.g. Parse error/Invalid Request), it MUST be Null."
        : "id?: RequestId;",
    doubt: "the schema and JSON-RPC contradict each other",
    page: (revision) =>
      revision.facts.errorId === "required" ? ofJsonRpc("response_object") : inSchema("jsonrpcerrorresponse")(revision),
    correct: ({ subject: { node, id } }) => (id === undefined ? put(node, "/id", "null") : without(node, "/id")),
    on: "message",
    *check(message, session, { facts, era }) {
      if (!isErrorToNothing(message) || answeredNotification(message, session) !== undefined) return;
      // A request of the other era may come from another client, with which the server has negotiated nothing.
      const { exchange } = message.context;
      if (exchange !== undefined && (spokenIn(exchange)?.era ?? era) !== era) return;
      // The revision of a server is unknown before the negotiation.
      if (facts.httpBinding !== "stateless" && (session.phase === "new" || session.phase === "initializing")) return;
      if (facts.errorId === "optional" && message.id === "null")
        yield { says: "the schema of this revision has the id left out, and JSON-RPC has null", pointer: "/id" };
      if (facts.errorId === "required" && message.id === undefined)
        yield {
          says: "the schema of this revision requires an id, and JSON-RPC requires it to be null",
          pointer: "/id",
        };
    },
  },
];

/** Whether a response names no request because it answers none: another rule reports it. */
function namesNothing(message: WireMessage, session: WireSession): boolean {
  return isErrorToNothing(message) || answeredNotification(message, session) !== undefined;
}

function isErrorToNothing({ kind, id }: WireMessage): boolean {
  return kind === "err" && (id === undefined || id === "null");
}

/** The notification that a response without an id must be meant for. */
function answeredNotification(message: WireMessage, session: WireSession): WireMessage | undefined {
  const { id, kind, frame, from } = message;
  if ((kind !== "res" && kind !== "err") || (id !== undefined && id !== "null")) return undefined;
  const side = otherSide(from);
  const last = session.last[side];
  const told = last?.kind === "req" ? earlierNotification(message, session) : last?.kind === "ntf" ? last : undefined;
  if (told === undefined) return undefined;
  // An unreadable message gets such a response, too, and over HTTP a server may refuse a notification with an error.
  const code = errorCode(message);
  if (kind === "err" && (code === codes.parseError || code === codes.invalidRequest)) return undefined;
  return kind === "err" && frame.entry.req !== undefined ? undefined : told;
}

/**
 * The notification that an error without an id responds to, if requests were sent after it: hosts send `notifications/initialized` and
 * their first request together. The error must be *Method not found*: the server has read a method, and a response to an open request
 * would have an id.
 */
function earlierNotification(
  message: WireMessage,
  { lastNotification, pending }: WireSession,
): WireMessage | undefined {
  const side = otherSide(message.from);
  const told = lastNotification[side];
  const { pairing } = message.context;
  if (told === undefined || pairing?.is === "answer" || errorCode(message) !== codes.methodNotFound) return undefined;
  const isBefore = pending.some(({ request }) => request.from === side && request.frame.n < told.frame.n);
  return isBefore ? undefined : told;
}
