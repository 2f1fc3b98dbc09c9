import { describeValue, isObject, methods, notifications } from "@parlance/mcp/protocol";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import { metaOf } from "../conversation/operations.js";
import { type Frame, otherSide } from "../recording/frame.js";
import { byEra, isStateless, type PageOf } from "./citations.js";
import { byOnly, literalAt, nothing, replaced, unusedNumber, waitingRequests } from "./corrections/edits.js";
import { isAwaited } from "./json-rpc.js";
import type { MessageRule } from "./rule.js";

/** A section on progress or cancellation: the stateless era counts both to the patterns. */
const onPattern = (section: string): PageOf => byEra(`basic/utilities/${section}`, `basic/patterns/${section}`);
const onProgress = onPattern("progress#progress-flow");
const onCancellation = onPattern("cancellation#behavior-requirements");

/** A token with the other type: `2` for `"2"`. Undefined if it is neither a string nor a number. */
function otherType(token: unknown): string | number | undefined {
  if (typeof token === "number") return String(token);
  return typeof token === "string" ? Number(token) : undefined;
}

/** The rules on progress and cancellation of requests. */
export const progressRules: readonly MessageRule[] = [
  {
    id: "P-1",
    level: "must",
    party: "either",
    kinds: ["ntf"],
    methods: [notifications.progress],
    demands: "A progress notification has a progressToken of a request of the other side",
    sentence: "Progress notifications MUST only reference tokens that: Were provided in an active request",
    page: onPattern("progress#behavior-requirements"),
    correct: ({ subject, session }) => {
      const asked = waitingRequests(subject, otherSide(subject.from), session);
      const tokens = asked.flatMap(({ request }) => literalAt(request, "/params/_meta/progressToken") ?? []);
      return byOnly(tokens, (token) => replaced(subject.node, "/params/progressToken", token));
    },
    *check({ from, params, operation }, session) {
      const { progressToken } = params;
      if (operation !== undefined || !session.isWhole || progressToken === undefined) return;
      const token = describeValue(progressToken);
      const other = otherType(progressToken);
      const request = other === undefined ? undefined : session.requestWithToken(otherSide(from), other)?.request;
      const says =
        request === undefined
          ? `no request has the token ${token}`
          : `the request in frame ${request.frame.n} has the token ${describeValue(other)}, which is not ${token}`;
      yield { says, pointer: "/params/progressToken" };
    },
  },
  {
    id: "P-2",
    level: "must",
    party: "either",
    kinds: ["req"],
    demands: "A progressToken belongs to one open request",
    sentence: "MUST be unique across all active requests.",
    page: onProgress,
    correct: ({ subject, pointer, session }) => replaced(subject.node, pointer, unusedNumber(subject.from, session)),
    *check({ from, params, frame }, session, { era }) {
      const { progressToken } = metaOf(params);
      if (progressToken === undefined) return;
      const other = session.requestWithToken(from, progressToken);
      if (other === undefined || !isAwaited(other, session)) return;
      // If every request has an exchange of its own, another client may have chosen the same token.
      const isElsewhere = frame.entry.req !== other.request.frame.entry.req;
      if (isElsewhere && (era === "stateless" || session.isShared)) return;
      yield {
        says: `the token ${describeValue(progressToken)} is that of the request in frame ${other.request.frame.n}, which still waits`,
        pointer: "/params/_meta/progressToken",
      };
    },
  },
  {
    id: "P-3",
    level: "must",
    party: "either",
    kinds: ["ntf"],
    methods: [notifications.progress],
    demands: "Progress increases with every notification",
    sentence: "The `progress` value MUST increase with each notification, even if the total is unknown.",
    page: onProgress,
    correct: nothing,
    *check({ method, params, operation }) {
      if (operation !== undefined && isAfterAnswer(operation)) return; // P-4 reports it.
      const before = operation?.notices.findLast((notice) => notice.method === method);
      const [was, is] = [before?.params.progress, params.progress];
      if (typeof was === "number" && typeof is === "number" && is <= was)
        yield { says: `it is ${is}, and frame ${before?.frame.n} has said ${was}`, pointer: "/params/progress" };
    },
  },
  {
    id: "P-4",
    level: "must",
    party: "either",
    kinds: ["ntf"],
    methods: [notifications.progress],
    demands: "Progress notifications end with the response",
    sentence: "Progress notifications MUST stop after completion",
    page: onPattern("progress#implementation-notes"),
    correct: nothing,
    *check({ operation }) {
      if (operation === undefined || !isAfterAnswer(operation)) return;
      yield {
        says: `the request was answered by frame ${operation.answer?.frame.n}`,
        pointer: "/params/progressToken",
      };
    },
  },
  {
    id: "X-1",
    level: "must",
    party: "either",
    kinds: ["ntf"],
    methods: [notifications.cancelled],
    demands: "A side cancels only its own requests, before it has received the response",
    sentence: "Cancellation notifications MUST only reference requests that: … Are believed to still be in-progress",
    doubt: "what the sender believed is not visible on the wire",
    page: onCancellation,
    correct: ({ subject, pointer, session }) => {
      const own = waitingRequests(subject, subject.from, session);
      return byOnly(own, ({ request }) => replaced(subject.node, pointer, request.id));
    },
    *check({ params, operation, frame }, { isWhole, isShared }) {
      if (params.requestId === undefined) return;
      const id = describeValue(params.requestId);
      const pointer = "/params/requestId";
      if (operation === undefined && isWhole) yield { says: `no request has the id ${id}`, pointer };
      const answer = operation?.answer;
      // The sender may not have received the response yet, or had to reject it.
      if (answer === undefined || isShared || answer.isFaulty || mayCross(answer, frame)) return;
      yield { says: `the request ${id} was answered by frame ${answer.frame.n}`, pointer };
    },
  },
  {
    id: "X-2",
    level: "should",
    party: "either",
    kinds: ["res", "err"],
    demands: "A cancelled request gets no response, unless that was sent already",
    sentence: byEra(
      "Receivers of cancellation notifications SHOULD: … Not send a response for the cancelled request",
      "Servers receiving cancellation notifications SHOULD: … Not send a response for the cancelled request",
    ),
    doubt: "the response may have been sent before the cancellation arrived, which is assumed within a second",
    page: onCancellation,
    correct: nothing,
    *check({ operation, frame }, { isShared }) {
      const cancel = operation?.cancel;
      if (cancel === undefined || isShared || mayCross(cancel, frame)) return;
      yield { says: `frame ${cancel.frame.n} has cancelled the request`, pointer: "/id" };
    },
  },
  {
    id: "X-3",
    level: "must",
    party: "server",
    kinds: ["ntf"],
    from: "server",
    methods: [notifications.cancelled],
    demands: "A server cancels only subscriptions, to end them",
    applies: isStateless,
    sentence:
      "Server-sent cancellation notifications MUST reference a `subscriptions/listen` request, to terminate that subscription stream",
    page: "basic/patterns/cancellation#behavior-requirements",
    correct: nothing,
    *check({ params, operation }, { isWhole }) {
      if (isWhole && operation?.request.method !== methods.listen)
        yield { says: `${describeValue(params.requestId)} is no subscription`, pointer: "/params/requestId" };
    },
  },
];

/** The milliseconds within which a response and a cancellation may cross on the wire. */
const crossingTime = 1_000;

function mayCross({ frame: { entry } }: WireMessage, { entry: later }: Frame): boolean {
  return later.t - (entry.t1 ?? entry.t) < crossingTime;
}

/** Whether a notification about the operation comes too late: it was answered, and does not go on as a task. */
function isAfterAnswer(operation: RecordedOperation): boolean {
  return operation.answer !== undefined && !isTask(operation);
}

/** Whether the operation goes on as a task after its response. */
function isTask({ answer }: RecordedOperation): boolean {
  const result = answer?.result;
  return isObject(result?.task) || result?.resultType === "task";
}
