import { isObject } from "../../protocol/json.js";
import { methods, notifications } from "../../protocol/methods.js";
import { describeValue } from "../../protocol/shapes/shape-fault.js";
import type { Operation } from "../message.js";
import { metaOf } from "../operations.js";
import type { Rule } from "../rule.js";
import { pageByEra } from "./pages.js";

const onProgress = pageByEra("basic/utilities/progress#progress-flow", "basic/patterns/progress#progress-flow");
const onBehaviour = pageByEra(
  "basic/utilities/progress#behavior-requirements",
  "basic/patterns/progress#behavior-requirements",
);
const onCancellation = pageByEra(
  "basic/utilities/cancellation#behavior-requirements",
  "basic/patterns/cancellation#behavior-requirements",
);
const onTiming = pageByEra(
  "basic/utilities/cancellation#timing-considerations",
  "basic/patterns/cancellation#timing-considerations",
);

/** How requests report on their way, and how they are taken back. */
export const progressRules: readonly Rule[] = [
  {
    id: "P-1",
    level: "bad",
    party: "either",
    kinds: ["ntf"],
    demands: "Progress is told under a token that the caller of a request has given",
    page: onBehaviour,
    on: "message",
    *check({ method, params, operation }, { isWhole }) {
      const { progressToken } = params;
      if (method !== notifications.progress || operation !== undefined || !isWhole || progressToken === undefined)
        return;
      yield { says: `no request has the token ${describeValue(progressToken)}`, pointer: "/params/progressToken" };
    },
  },
  {
    id: "P-2",
    level: "bad",
    party: "either",
    kinds: ["req"],
    demands: "A token for progress belongs to one request at a time",
    page: onProgress,
    on: "message",
    *check({ from, params, frame }, session, { era }) {
      const { progressToken } = metaOf(params);
      if (progressToken === undefined) return;
      const other = session.requestWithToken(from, progressToken);
      if (other === undefined || other.answer !== undefined || other.cancel !== undefined) return;
      // Where every request has an exchange of its own, it may be another client that has chosen the same.
      if (era === "stateless" && frame.entry.req !== other.request.frame.entry.req) return;
      yield {
        says: `the token ${describeValue(progressToken)} is that of the request in frame ${other.request.frame.n}, which still waits`,
        pointer: "/params/_meta/progressToken",
      };
    },
  },
  {
    id: "P-3",
    level: "bad",
    party: "either",
    kinds: ["ntf"],
    demands: "Progress grows with every notification",
    page: onProgress,
    on: "message",
    *check({ method, params, operation }) {
      if (method !== notifications.progress) return;
      const before = operation?.notices.findLast((notice) => notice.method === method);
      const [was, is] = [before?.params.progress, params.progress];
      if (typeof was === "number" && typeof is === "number" && is <= was)
        yield { says: `it is ${is}, and frame ${before?.frame.n} has said ${was}`, pointer: "/params/progress" };
    },
  },
  {
    id: "P-4",
    level: "bad",
    party: "either",
    kinds: ["ntf"],
    demands: "Nothing is told of the progress of a request that was answered",
    page: onBehaviour,
    on: "message",
    *check({ method, operation }) {
      if (method !== notifications.progress || operation?.answer === undefined || isTask(operation)) return;
      yield { says: `the request was answered by frame ${operation.answer.frame.n}`, pointer: "/params/progressToken" };
    },
  },
  {
    id: "X-1",
    level: "info",
    party: "either",
    kinds: ["ntf"],
    demands: "A side cancels requests of its own that have no answer yet, though one may be on its way",
    page: onCancellation,
    on: "message",
    *check({ method, params, operation }, { isWhole }) {
      if (method !== notifications.cancelled || params.requestId === undefined) return;
      const id = describeValue(params.requestId);
      const pointer = "/params/requestId";
      if (operation === undefined && isWhole) yield { says: `no request has the id ${id}`, pointer };
      if (operation?.answer !== undefined)
        yield { says: `the request ${id} was answered by frame ${operation.answer.frame.n}`, pointer };
    },
  },
  {
    id: "X-2",
    level: "info",
    party: "either",
    kinds: ["res", "err"],
    demands: "What was cancelled is not answered, though an answer may be on its way",
    page: onTiming,
    on: "message",
    *check({ operation }) {
      if (operation?.cancel !== undefined)
        yield { says: `frame ${operation.cancel.frame.n} has cancelled the request`, pointer: "/id" };
    },
  },
  {
    id: "X-3",
    level: "bad",
    party: "server",
    kinds: ["ntf"],
    demands: "A server cancels nothing but a subscription that it ends",
    applies: ({ era }) => era === "stateless",
    page: "basic/patterns/cancellation#behavior-requirements",
    on: "message",
    *check({ from, method, params, operation }, { isWhole }) {
      if (from !== "server" || method !== notifications.cancelled || !isWhole) return;
      if (operation?.request.method !== methods.listen)
        yield { says: `${describeValue(params.requestId)} is no subscription`, pointer: "/params/requestId" };
    },
  },
];

/** Whether what was asked goes on behind its answer. */
function isTask({ answer }: Operation): boolean {
  const result = answer?.result;
  return isObject(result?.task) || result?.resultType === "task";
}
