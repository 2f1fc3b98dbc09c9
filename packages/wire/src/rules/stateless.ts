import { specCodes } from "@parlance/mcp";
import {
  describeValue,
  isObject,
  type JsonObject,
  metaKeys,
  pointerToken,
  readRequestMeta,
  versionsWithCode,
} from "@parlance/mcp/protocol";
import { metaOf } from "../conversation/operations.js";
import { isStateless } from "./citations.js";
import { nothing, put, replaced, without } from "./corrections/edits.js";
import { asInputRequest } from "./corrections/meant-values.js";
import { errorCode } from "./json-rpc.js";
import type { Clause, MessageRule } from "./rule.js";

/** The rules on the metadata of requests and results in revisions without a handshake. */
export const statelessRules: readonly MessageRule[] = [
  {
    id: "S-4",
    level: "must",
    party: "server",
    kinds: ["req"],
    from: "server",
    demands: "A server sends no requests: it requests input in an input_required result",
    applies: isStateless,
    sentence: "Servers MUST NOT initiate JSON-RPC requests, and clients do not send JSON-RPC responses.",
    page: "basic/patterns",
    correct: ({ subject, session }) => asInputRequest(subject, session),
    *check({ method }) {
      if (!method?.startsWith("notifications/"))
        yield { says: `the server sends the request ${describeValue(method)}`, pointer: "/method" };
    },
  },
  {
    id: "S-5",
    level: "must",
    party: "client",
    kinds: ["res", "err"],
    from: "client",
    demands: "A client sends no responses, because servers send no requests",
    applies: isStateless,
    sentence: "The client MUST NOT write JSON-RPC responses.",
    page: "basic/transports/stdio#sending-messages",
    correct: nothing,
    *check() {
      yield { says: "the client sends a response" };
    },
  },
  {
    id: "N-1",
    level: "must",
    party: "server",
    kinds: ["res"],
    from: "server",
    demands:
      "The resultType of a result is complete, input_required, or a value of an extension that both sides have declared",
    applies: isStateless,
    sentence: "The `result` MUST include a `resultType` field to indicate the type of the result.",
    page: "basic#resulttype",
    correct: ({ subject: { node, result }, pointer }) =>
      put(node, pointer, isObject(result?.inputRequests) ? '"input_required"' : '"complete"'),
    *check({ result, operation }) {
      if (result === undefined) return;
      const { resultType } = result;
      if (resultType === "complete" || resultType === "input_required") return;
      const mayExtend = typeof resultType === "string" && extensionsOf(operation?.request.params).length > 0;
      if (!mayExtend)
        yield {
          says: `resultType must be "complete" or "input_required", got ${describeValue(resultType)}`,
          pointer: "/result/resultType",
        };
    },
  },
  {
    id: "N-2",
    level: "must",
    party: "client",
    kinds: ["req"],
    from: "client",
    demands: "The _meta of every request has the protocol version and the client capabilities",
    applies: isStateless,
    sentence: "fields marked as required MUST be included on every request",
    page: "basic#meta",
    correct: ({ subject: { node }, pointer, session, revision }) => {
      const meta: JsonObject = {
        [metaKeys.protocolVersion]: revision.version,
        [metaKeys.clientCapabilities]: session.clientCapabilities ?? {},
      };
      const member = Object.keys(meta).find((key) => pointer === `/params/_meta/${pointerToken(key)}`);
      if (pointer === "/params/_meta") return put(node, pointer, JSON.stringify(meta));
      return member === undefined ? without(node, pointer) : put(node, pointer, JSON.stringify(meta[member]));
    },
    *check(message) {
      const { method } = message;
      // Other rules report params that are not an object, and notifications with an id.
      if (method?.startsWith("notifications/")) return;
      const params = message.member("params");
      if (params !== undefined && !isObject(params)) return;
      const reading = readRequestMeta(message.params);
      if (!("faults" in reading)) return;
      for (const { path, message: says } of reading.faults)
        yield { says: `${path.slice(1).replace("~1", "/")} ${says}`, pointer: `/params${path}` };
    },
  },
  {
    id: "N-3",
    level: "must",
    party: "either",
    kinds: ["err"],
    demands: "Codes from −32099 to −32020 are those that the specification defines; −32002 and −32042 are not sent",
    applies: isStateless,
    sentence:
      "Implementations MUST NOT emit any code from this sub-range that is not defined by this specification and MUST use defined codes only with their specified meanings.",
    page: "basic#error-codes",
    correct: ({ subject, revision: { codes } }) =>
      errorCode(subject) === specCodes.resourceNotFound
        ? replaced(subject.node, "/error/code", String(codes.resourceNotFound))
        : undefined,
    *check(message, _session, { codes }) {
      const code = errorCode(message);
      if (code === undefined) return;
      const isKept = (code >= -32_099 && code <= -32_020) || code === specCodes.resourceNotFound;
      if (!isKept || Object.values(codes).includes(code)) return;
      const [before] = versionsWithCode(code);
      const why = before === undefined ? "it has no meaning yet" : `it is of ${before}`;
      const says = `the code ${code} is reserved by the specification: ${why}`;
      yield { says, pointer: "/error/code", ...(before !== undefined && { by: formerCodes }) };
    },
  },
  {
    id: "N-4",
    level: "should",
    party: "either",
    kinds: ["err"],
    demands: "Codes from −32019 to −32000 have no fixed meaning: new programs do not send them",
    applies: isStateless,
    sentence: "new implementations SHOULD NOT use codes from this sub-range at all",
    page: "basic#error-codes",
    *check(message) {
      const code = errorCode(message);
      if (code !== undefined && code >= -32_019 && code <= -32_000 && code !== specCodes.resourceNotFound)
        yield { says: `a receiver cannot know what the code ${code} means`, pointer: "/error/code" };
    },
  },
  {
    id: "N-5",
    level: "may",
    party: "client",
    kinds: ["req"],
    from: "client",
    demands: "Every request stands alone: a different version or client in _meta starts another conversation",
    applies: isStateless,
    sentence:
      "A server processes each request independently; no state should be inferred from previous requests, even those on the same connection or stream.",
    page: "basic#statelessness",
    *check({ params, frame }, session) {
      const before = session.operations.at(-1)?.request;
      if (frame.entry.req !== undefined || before === undefined) return;
      const [is, was] = [metaOf(params), metaOf(before.params)];
      for (const key of [metaKeys.protocolVersion, metaKeys.clientCapabilities]) {
        if (is[key] === undefined || was[key] === undefined) continue;
        if (JSON.stringify(is[key]) === JSON.stringify(was[key])) continue;
        yield {
          says: `it is not what the request in frame ${before.frame.n} says`,
          pointer: `/params/_meta/${key.replace("/", "~1")}`,
        };
      }
    },
  },
];

const formerCodes: Clause = {
  level: "must",
  sentence: "Implementations of this protocol version MUST NOT emit these codes:",
  page: "basic#error-codes",
};

/** The extensions that the client of a request has declared. */
export function extensionsOf(params: JsonObject = {}): readonly string[] {
  const capabilities = metaOf(params)[metaKeys.clientCapabilities];
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined;
  return isObject(extensions) ? Object.keys(extensions) : [];
}
