import { isObject, metaKeys, methods } from "@parlance/mcp/protocol";
import { describe, expectError, expectRefusal, expectResult, failed, type Probe, passed, quoted } from "../probe.js";

/** The probes of the start of a conversation, in both eras. */
export const openingProbes: readonly Probe[] = [
  {
    id: "XL-1",
    level: "must",
    demands: "A ping is answered with an empty result",
    sentence: "The receiver MUST respond promptly with an empty response:",
    page: "basic/utilities/ping#behavior-requirements",
    applies: ({ era }) => era === "handshake",
    async ask(subject) {
      const reply = await subject.ask(methods.ping);
      const result = reply.answer?.result;
      if (!isObject(result)) return expectResult(reply);
      const names = Object.keys(result).filter((name) => name !== "_meta");
      return names.length === 0 ? passed : failed(`it has ${names.map(quoted).join(", ")}`);
    },
  },
  {
    id: "XL-2",
    level: "must",
    demands: "A request without its revision in _meta is refused",
    sentence:
      "A request missing any required field is malformed; the server MUST reject it with JSON-RPC error code `-32602` (Invalid params).",
    page: "basic#meta",
    applies: ({ era }, transport) => era === "stateless" && transport === "http",
    async ask(subject) {
      const id = subject.nextId();
      const text = JSON.stringify({ jsonrpc: "2.0", id, method: methods.listTools, params: {} });
      const { invalidParams, headerMismatch = 0 } = subject.revision.codes;
      // The header and the body name different revisions; the server may report that first.
      return expectRefusal(await subject.client.send(text, id), [invalidParams, headerMismatch]);
    },
  },
  {
    id: "XL-3",
    level: "must",
    demands: "A request of an unknown revision is refused, and the error lists the supported ones",
    sentence: "it MUST respond with an `UnsupportedProtocolVersionError` listing the versions it does support",
    page: "basic/versioning#protocol-version-negotiation",
    applies: ({ era }) => era === "stateless",
    async ask(subject) {
      const id = subject.nextId();
      const request = JSON.parse(subject.request(id, methods.discover)) as { params: { _meta: object } };
      const meta = { ...request.params._meta, [metaKeys.protocolVersion]: "1999-12-31" };
      const text = JSON.stringify({ ...request, params: { _meta: meta } });
      const reply = await subject.client.send(text, id, { headers: { "mcp-protocol-version": "1999-12-31" } });
      const { unsupportedProtocolVersion = 0 } = subject.revision.codes;
      const found = expectError(reply, [unsupportedProtocolVersion]);
      const error = reply.answer?.error;
      if (found.is !== "passed" || !isObject(error)) return found;
      const data = isObject(error.data) ? error.data : {};
      return Array.isArray(data.supported) && data.requested === "1999-12-31"
        ? passed
        : failed(`its data is ${quoted(error.data)}, expected { supported: […], requested: "1999-12-31" }`);
    },
  },
  {
    id: "XL-4",
    level: "may",
    demands: "A method that the revision has removed is not found",
    sentence: "Remove `ping`, `logging/setLevel`, and `notifications/roots/list_changed`.",
    page: "changelog",
    applies: ({ era }) => era === "stateless",
    ask: async (subject) => expectError(await subject.ask(methods.ping), [subject.revision.codes.methodNotFound]),
  },
  {
    id: "XL-5",
    level: "should",
    demands: "Every result has the server info",
    sentence:
      "Servers SHOULD include the following `io.modelcontextprotocol/*` field in every result's `_meta`, unless specifically configured not to do so",
    page: "basic#meta",
    applies: ({ era }) => era === "stateless",
    async ask(subject) {
      const { answer } = await subject.ask(methods.discover);
      const meta = isObject(answer?.result) ? answer.result._meta : undefined;
      const info = isObject(meta) ? meta[metaKeys.serverInfo] : undefined;
      if (isObject(info)) return passed;
      return failed(answer === undefined ? "there was no answer" : `it does not: ${describe(answer)}`);
    },
  },
];
