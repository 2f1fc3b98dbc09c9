import { codes, escapeControls } from "@parlance/mcp/jsonrpc";
import { checkShape, isObject, type Revision } from "@parlance/mcp/protocol";
import { spokenIn } from "../conversation/exchange.js";
import type { WireMessage } from "../conversation/message.js";
import type { WireSession } from "../conversation/session.js";
import { otherSide } from "../recording/frame.js";
import { inSchema, ofJsonRpc, onMessages } from "./citations.js";
import { byOnly, nothing, put, replaced, waitingRequests, without } from "./corrections/edits.js";
import { errorCode } from "./json-rpc.js";
import type { MessageRule } from "./rule.js";

/** The rules on responses and their requests. */
export const pairingRules: readonly MessageRule[] = [
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
      const waiting = waitingRequests(subject, otherSide(subject.from), session);
      return byOnly(waiting, ({ request }) => put(node, "/id", request.id));
    },
    *check(message, session, revision) {
      const { pairing } = message.context;
      if (pairing === undefined || pairing.is === "answer") return;
      if (answeredNotification(message, session, revision) !== undefined) return; // Another rule reports it.
      const id = escapeControls(message.id ?? "");
      const at = { pointer: "/id" };
      if (hasNoId(message)) {
        const what = message.id === undefined ? "it has no id" : "its id is null";
        yield { ...at, says: `${what}, so it ${answersInVain(message, session, revision)}` };
      } else if (pairing.is === "unknown") {
        if (session.isWhole) yield { ...at, says: `no request has the id ${id}` };
      } else {
        const { request, answer, cancel } = pairing.operation;
        const isAfterCancel = cancel !== undefined && answer !== undefined && answer.frame.n > cancel.frame.n;
        const mayAnswerCancel = isAfterCancel ? `, which may answer the cancellation in frame ${cancel.frame.n}` : "";
        const says =
          pairing.is === "other type"
            ? `the request in frame ${request.frame.n} has the id ${escapeControls(request.id ?? "")}, which is not ${id}`
            : `the request with the id ${id} was answered already, by frame ${answer?.frame.n}${mayAnswerCancel}`;
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
    *check(message, session, revision) {
      const told = answeredNotification(message, session, revision);
      if (told === undefined) return;
      session.notificationAnswers.set(told, message);
      yield { says: `it answers the notification in frame ${told.frame.n}` };
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
    *check(message, session, revision) {
      const { facts, era } = revision;
      if (!hasNoId(message) || answeredNotification(message, session, revision) !== undefined) return;
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

/** The end of the finding on a response without an id: which request it should have answered. */
function answersInVain(message: WireMessage, session: WireSession, revision: Revision): string {
  const meant = resultOfOldest(message, session, revision);
  if (meant !== undefined) return `does not answer the request in frame ${meant.frame.n}, which waits`;
  const told = notificationBefore(message, session);
  const orTold = told === undefined ? "" : `; nor may it answer the notification in frame ${told.frame.n}`;
  return `answers no request${orTold}`;
}

function hasNoId({ id }: WireMessage): boolean {
  return id === undefined || id === "null";
}

/** The notification that a response without an id must be meant for, or one with the id that a cancellation names in vain. */
function answeredNotification(message: WireMessage, session: WireSession, revision: Revision): WireMessage | undefined {
  if (message.context.pairing?.is === "unknown" && !hasNoId(message)) return answeredCancellation(message, session);
  const told = notificationBefore(message, session);
  const side = otherSide(message.from);
  if (told === undefined || namesMethodOf(told, message)) return told;
  if (resultOfOldest(message, session, revision) !== undefined) return undefined;
  if (session.last[side]?.kind === "ntf") return told;
  // Hosts send `notifications/initialized` and their first request together: is it meant for the request?
  if (message.kind === "err") return errorCode(message) === codes.methodNotFound ? told : undefined;
  const oldest = session.oldestPending(side)?.request;
  return oldest === undefined || isResultOf(oldest, message, revision) ? undefined : told;
}

/** The oldest open request, if a response without an id has a result for it that is not empty: it is hardly meant for a notification. */
function resultOfOldest(message: WireMessage, session: WireSession, revision: Revision): WireMessage | undefined {
  const { resultType: _, _meta, ...result } = message.result ?? {};
  const oldest = session.oldestPending(otherSide(message.from))?.request;
  const isMeant = Object.keys(result).length > 0 && oldest !== undefined && isResultOf(oldest, message, revision);
  return isMeant ? oldest : undefined;
}

function answeredCancellation({ id, from }: WireMessage, session: WireSession): WireMessage | undefined {
  const cancellation = session.lastVainCancellation[otherSide(from)];
  return session.isWhole && cancellation?.id === id ? cancellation?.message : undefined;
}

/** The notification that a response without an id may be meant for: the last one, if each open request was sent after it. */
function notificationBefore(message: WireMessage, session: WireSession): WireMessage | undefined {
  const { kind, frame, from } = message;
  if (!hasNoId(message) || message.context.pairing?.is === "answer") return undefined;
  const side = otherSide(from);
  const told = session.lastNotification[side];
  if (told === undefined || (session.notificationAnswers.get(told) ?? message) !== message) return undefined;
  const overHttp = frame.entry.req !== undefined;
  if (kind === "err") {
    // An unreadable message gets such a response, too, and over HTTP a server may refuse a notification with an error.
    const code = errorCode(message);
    if (overHttp || code === codes.parseError || code === codes.invalidRequest) return undefined;
  }
  if (namesMethodOf(told, message)) return told;
  if (kind === "err" && session.lastOther[side] > told.frame.n) return undefined; // That may have no other answer.
  if (session.last[side] === told) return told;
  // Over HTTP, it answers what was sent in its exchange; elsewhere a response since then shows that the notification was dealt with.
  const { [side]: latest, [from]: before } = session.last;
  const isLate = kind === "res" && before?.kind !== "ntf" && (before?.frame.n ?? 0) > told.frame.n;
  if (overHttp || isLate || latest?.kind !== "req") return undefined;
  const oldest = session.oldestPending(side)?.request;
  return oldest !== undefined && oldest.frame.n < told.frame.n ? undefined : told;
}

/** Whether an error says the method of a notification: then it is meant for it, whatever requests are open. */
function namesMethodOf({ method }: WireMessage, response: WireMessage): boolean {
  const error = response.member("error");
  const text = isObject(error) && typeof error.message === "string" ? error.message : "";
  return method !== undefined && text.includes(method);
}

/** Whether a message may be the result of a request: true for a method that the revision does not know. */
function isResultOf({ method, from: sender }: WireMessage, { result }: WireMessage, revision: Revision): boolean {
  if (method === undefined || !revision.requests[sender].has(method)) return true;
  return result !== undefined && checkShape(revision, { of: "result", method, sender }, result).length === 0;
}
