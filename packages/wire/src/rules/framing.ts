import { decodeUtf8, methods } from "@parlance/mcp/protocol";
import { type ByteRange, childOf, type JsonArrayNode, literalOf } from "../json/json-node.js";
import type { JsonFault } from "../json/json-scan.js";
import { byEra, inSchema, ofJson, ofJsonRpc, oneMessage, onStdio } from "./citations.js";
import { nothing, unbatched } from "./corrections/edits.js";
import type { Finding, FrameReading, Rule } from "./rule.js";

/** The rules on every text transport, and on stdio. */
export const framingRules: readonly Rule[] = [
  {
    id: "E-1",
    level: "must",
    party: "either",
    demands: "Messages are encoded in UTF-8",
    sentence: ({ facts }) =>
      facts.httpBinding === "http+sse"
        ? "JSON text exchanged between systems that are not part of a closed ecosystem MUST be encoded using UTF-8"
        : "JSON-RPC messages MUST be UTF-8 encoded.",
    page: ({ facts }) => (facts.httpBinding === "http+sse" ? ofJson("section-8.1") : "basic/transports"),
    on: "frame",
    *check({ frame: { bytes, entry } }) {
      // Bytes that were recorded as text are UTF-8. In a frame that HTTP cut, the last character may be cut, too.
      if (entry.raw !== undefined || entry.cut !== undefined || decodeUtf8(bytes) !== undefined) return;
      const range = firstInvalid(bytes);
      const byte = (bytes[range[0]] ?? 0).toString(16).padStart(2, "0");
      yield { says: `the byte 0x${byte} at ${range[0]} does not belong to UTF-8 text`, range };
    },
  },
  {
    id: "E-2",
    level: "must",
    party: "either",
    channels: ["socket"],
    demands: "A frame of a WebSocket, or of another message-based transport, is one JSON-RPC message",
    sentence: byEra(
      "Implementers who choose to support custom transports MUST ensure they preserve the JSON-RPC message format and lifecycle requirements defined by MCP.",
      "Implementers who choose to support custom transports MUST preserve the JSON-RPC message format, the message patterns, and the per-request metadata model.",
    ),
    page: "basic/transports#custom-transports",
    on: "frame",
    check: ({ json }) => notJson(json.fault),
  },
  {
    id: "S-1",
    level: "must",
    party: "either",
    channels: ["stdin", "stdout"],
    demands: "A message is one line: it contains no line break, and ends with one",
    sentence: "Messages are delimited by newlines, and MUST NOT contain embedded newlines.",
    page: onStdio,
    on: "frame",
    *check(reading) {
      const { frame, continues, line, json } = reading;
      // Reported once for a text of many lines.
      if (continues !== undefined && line > 2) return;
      if (continues !== undefined)
        yield {
          says: `it continues the message that frame ${continues.n} begins: JSON printed on several lines`,
        };
      else if (json.fault?.cut === true && beginsMessage(frame.bytes)) yield { says: brokenOff(reading) };
      else if (isSecondMessage(reading))
        yield { says: `a second message begins at byte ${json.fault?.at} of the line: no line feed follows the first` };
      else if (json.fault === undefined && frame.entry.nl === "")
        yield { says: "no line feed follows the message: its receiver waits for one, and does not read it" };
    },
  },
  {
    id: "S-2",
    level: "must",
    party: "server",
    channels: ["stdout"],
    demands: "A server writes nothing but messages to stdout",
    sentence: "The server MUST NOT write anything to its `stdout` that is not a valid MCP message.",
    page: onStdio,
    correct: nothing,
    on: "frame",
    check: noise,
  },
  {
    id: "S-3",
    level: "must",
    party: "client",
    channels: ["stdin"],
    demands: "A client writes nothing but messages to the stdin of a server",
    sentence: "The client MUST NOT write anything to the server's `stdin` that is not a valid MCP message.",
    page: onStdio,
    correct: nothing,
    on: "frame",
    check: noise,
  },
  {
    id: "R-10",
    level: "must",
    party: "either",
    demands: "A batch is sent only in a revision that has batches, and is not empty",
    sentence: (revision) =>
      revision.facts.batches
        ? "If the batch rpc call itself fails to be recognized as an valid JSON or as an Array with at least one value, the response from the Server MUST be a single Response object."
        : oneMessage(revision),
    page: (revision) => (revision.facts.batches ? ofJsonRpc("batch") : inSchema("jsonrpcmessage")(revision)),
    correct: ({ subject: { frame } }) => unbatched(frame),
    on: "frame",
    *check({ frame, json }, { revision, unknownVersion }) {
      const root = json.isPlain ? undefined : json.root;
      if (root?.kind !== "array" || unknownVersion !== undefined) return;
      // Before a revision is negotiated, batches do not exist; a batch with `initialize` has a rule of its own.
      if (revision?.facts.batches !== true) {
        const where = revision?.version ?? "a conversation before the negotiation";
        if (!opensConversation(root, frame.bytes)) yield { says: `${where} has no batches` };
      } else if (root.elements.length === 0) yield { says: "a batch must hold a message" };
    },
  },
];

function opensConversation({ elements }: JsonArrayNode, bytes: Uint8Array): boolean {
  return elements.some((element) => {
    const method = childOf(element, "method");
    return method !== undefined && literalOf(method, bytes) === `"${methods.initialize}"`;
  });
}

function brokenOff({ frame: { entry } }: FrameReading): string {
  return entry.nl === ""
    ? `the stream ended after ${entry.len} bytes of a message`
    : `the line ends after ${entry.len} bytes of a message, before the message does`;
}

/** The finding on a text that is neither a message nor part of one, nor more than one. */
function noise(reading: FrameReading): Iterable<Finding> {
  const { frame, json, continues } = reading;
  const isPart = continues !== undefined || (json.fault?.cut === true && beginsMessage(frame.bytes));
  return isPart || isSecondMessage(reading) ? [] : notJson(json.fault);
}

/** Whether the fault of a line is that another message follows on it. */
function isSecondMessage({ frame: { bytes }, json: { fault } }: FrameReading): boolean {
  return fault?.isAfterValue === true && beginsMessage(bytes) && beginsMessage(bytes.subarray(fault.at));
}

/** The finding on a frame that must be JSON. */
export function* notJson(fault: JsonFault | undefined): Iterable<Finding> {
  if (fault !== undefined) yield { says: `it is not JSON: ${fault.says}` };
}

function beginsMessage(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte > 0x20);
  return first === 0x7b || first === 0x5b;
}

/** The range of the first invalid UTF-8: a byte with which no character begins, or an incomplete character. */
function firstInvalid(bytes: Uint8Array): ByteRange {
  let end = 0;
  // The longest valid beginning, by bisection: a decoder only says whether a text is valid.
  for (let step = 1 << 29; step >= 1; step = step >> 1) {
    const longer = end + step;
    if (longer <= bytes.length && isBeginning(bytes.subarray(0, longer))) end = longer;
  }
  let start = end;
  while (decodeUtf8(bytes.subarray(0, start)) === undefined) start -= 1;
  return [start, Math.max(end, start + 1)];
}

/** Whether bytes are UTF-8, apart from an incomplete last character. */
function isBeginning(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false; // A fatal decoder throws for invalid bytes.
  }
}
