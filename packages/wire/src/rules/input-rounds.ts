import { describeValue, isObject, type JsonObject, methods, pointerToken } from "@parlance/mcp/protocol";
import type { RecordedOperation, WireMessage } from "../conversation/message.js";
import { isStateless } from "./citations.js";
import { asBefore } from "./corrections/meant-values.js";
import type { Clause, Finding, MessageRule } from "./rule.js";

const page = "basic/patterns/mrtr";
const mayAsk: ReadonlySet<string> = new Set([methods.callTool, methods.getPrompt, methods.readResource]);

/** The rules on `input_required` results, and on the requests that continue them. */
export const inputRules: readonly MessageRule[] = [
  {
    id: "Q-1",
    level: "must",
    party: "server",
    kinds: ["res"],
    demands: "A server requests input only in results of tools/call, prompts/get and resources/read",
    applies: isStateless,
    sentence: "Servers MUST NOT send `InputRequiredResult` responses on any other client requests.",
    page: `${page}#supported-requests`,
    *check({ result, operation }) {
      const { method } = operation?.request ?? {};
      if (result?.resultType !== "input_required" || method === undefined || mayAsk.has(method)) return;
      yield { says: `${method} cannot have an input_required result`, pointer: "/result/resultType" };
    },
  },
  {
    id: "Q-2",
    level: "must",
    party: "client",
    kinds: ["req"],
    demands:
      "A client that provides input repeats the request under a new id, with the input responses and the unchanged requestState",
    applies: isStateless,
    sentence:
      "If an `InputRequiredResult` contains the `requestState` field, the client MUST echo back the exact value of that field when retrying the original request.",
    page: `${page}#client-requirements-basic-workflow`,
    correct: ({ subject, pointer, session }) => {
      const { previous } = subject.context;
      return previous && asBefore(subject, pointer, previous, session);
    },
    *check(message) {
      const { previous } = message.context;
      if (previous === undefined) return;
      yield* compareRequests(message, previous);
      yield* compareInput(message.params, previous);
    },
  },
];

const ofClients = `${page}#client-requirements-basic-workflow`;
const otherId: Clause = {
  level: "must",
  sentence:
    "The JSON-RPC `id` MUST be different between the initial request and the retry, as they are independent requests.",
  page: ofClients,
};
const sameRequest: Clause = {
  level: "must",
  sentence: "They MUST NOT be used for any other request that the client may be sending in parallel.",
  page: ofClients,
};
/** A server ignores unrecognized responses, and no sentence forbids sending them. */
const askedInput: Clause = { level: "may", page: `${page}#error-handling` };

/** Members that differ between the rounds of a request. */
const ofRound: ReadonlySet<string> = new Set(["_meta", "inputResponses", "requestState"]);

function* compareRequests({ method, params, idKey }: WireMessage, { request }: RecordedOperation): Iterable<Finding> {
  const before = `frame ${request.frame.n}`;
  if (idKey === request.idKey) yield { says: `${before} has the same id`, pointer: "/id", by: otherId };
  if (method !== request.method)
    yield { says: `${before} asks for ${describeValue(request.method)}`, pointer: "/method", by: sameRequest };
  else {
    const names = new Set([...Object.keys(params), ...Object.keys(request.params)]);
    for (const name of names) {
      if (ofRound.has(name) || JSON.stringify(params[name]) === JSON.stringify(request.params[name])) continue;
      yield { says: `it is not what ${before} has`, pointer: `/params/${pointerToken(name)}`, by: sameRequest };
    }
  }
}

function* compareInput({ inputResponses, requestState }: JsonObject, { answer }: RecordedOperation): Iterable<Finding> {
  const asked = answer?.result ?? {};
  const before = `frame ${answer?.frame.n}`;
  if (asked.requestState !== undefined && requestState === undefined)
    yield { says: `the requestState of ${before} is not returned`, pointer: "/params" };
  const questions = isObject(asked.inputRequests) ? asked.inputRequests : {};
  for (const key of Object.keys(isObject(inputResponses) ? inputResponses : {}))
    if (!Object.hasOwn(questions, key))
      yield {
        says: `${before} has not asked for it`,
        pointer: `/params/inputResponses/${pointerToken(key)}`,
        by: askedInput,
      };
}
