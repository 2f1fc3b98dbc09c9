import { escapeControls } from "@parlance/mcp/jsonrpc";
import { methods, pointerToken } from "@parlance/mcp/protocol";
import { type JsonNode, literalOf, nodeAt, stringOf } from "../json/json-node.js";
import { ofJson, onStdio } from "./citations.js";
import { membersAround, replaced, without } from "./corrections/edits.js";
import type { Correction, Finding, FrameReading, Rule } from "./rule.js";

/** Notes on facts that break no rule, but help to find a fault. */
export const informationRules: readonly Rule[] = [
  {
    id: "I-1",
    level: "should",
    party: "either",
    demands: "Keys of an object are unique: parsers differ on which duplicate they use, and most use the last",
    sentence: "The names within an object SHOULD be unique.",
    page: ofJson("section-4"),
    correct: ({ subject: { json }, pointer }) => json.root && withoutFirst(json.root, pointer),
    on: "frame",
    check: (reading) => findings(reading, repeatedNames),
  },
  {
    id: "I-2",
    level: "may",
    party: "either",
    demands: "A number fits into a double: most parsers keep 53 bits, and reformat numbers",
    sentence:
      "numbers that are integers and are in the range [-(2**53)+1, (2**53)-1] are interoperable in the sense that implementations will agree exactly on their numeric values.",
    page: ofJson("section-6"),
    correct: ({ subject: { frame, json }, pointer }) => {
      const { root } = json;
      const node = root && nodeAt(root, pointer);
      if (node?.kind !== "number") return undefined;
      const literal = literalOf(node, frame.bytes);
      const read = String(Number(literal));
      // 1.0 is 1, but 12345678901234567890 is not 12345678901234567000: that number needs another type.
      return root && digitsOf(literal) === digitsOf(read) ? replaced(root, pointer, read) : undefined;
    },
    on: "frame",
    check: (reading) => findings(reading, changedNumber),
  },
  {
    id: "I-3",
    level: "may",
    party: "either",
    demands: "A string has no unpaired surrogates, which UTF-8 cannot encode",
    sentence: "The behavior of software that receives JSON texts containing such values is unpredictable",
    page: ofJson("section-8.2"),
    on: "frame",
    // Only an escape can write it: a lone surrogate has no UTF-8.
    check: (reading) =>
      reading.json.isPlain || !reading.frame.bytes.includes(backslash) ? nothing : findings(reading, halfPair),
  },
  {
    id: "I-4",
    level: "must",
    party: "either",
    demands: "A JSON text has no byte order mark: most parsers refuse it",
    sentence:
      "Implementations MUST NOT add a byte order mark (U+FEFF) to the beginning of a networked-transmitted JSON text.",
    doubt: "the sentence is about networks, and a pipe is not one",
    page: ofJson("section-8.1"),
    correct: () => ({ is: "text", start: 0, end: 3, text: "" }),
    on: "frame",
    *check({ frame: { bytes } }) {
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
        yield { says: "it begins with a byte order mark", range: [0, 3] };
    },
  },
  {
    id: "I-5",
    level: "may",
    party: "either",
    demands: "A line ends with a line feed; a carriage return before it is whitespace, which parsers skip",
    page: onStdio,
    on: "frame",
    *check({ frame: { entry } }) {
      if (entry.nl === "\r\n") yield { says: "the line ends with a carriage return and a line feed" };
    },
  },
  {
    id: "I-6",
    level: "may",
    party: "either",
    kinds: ["res", "err"],
    demands: "A request takes about as long as other requests of the same method",
    page: "basic",
    on: "message",
    *check({ operation, context: { pairing }, frame: { entry } }, session) {
      const method = operation?.request.method;
      if (pairing?.is !== "answer" || operation === undefined || method === undefined || method === methods.listen)
        return;
      const usual = session.usualTime(method);
      const { t, t1: arrival = t } = operation.request.frame.entry;
      const took = entry.t - arrival;
      if (usual !== undefined && took > 4 * usual)
        yield { says: `it took ${milliseconds(took)}, where most take up to ${milliseconds(usual)}`, pointer: "/id" };
    },
  },
  {
    id: "I-7",
    level: "may",
    party: "either",
    demands: "A message is small enough to be kept in memory",
    page: "basic",
    on: "frame",
    *check({ frame: { entry } }) {
      if (entry.len > huge) yield { says: `it has ${(entry.len / huge).toFixed(1)} MiB` };
    },
  },
];

/** The text without the first of two members with a name; undefined if it occurs more often. */
function withoutFirst(root: JsonNode, pointer: string): Correction | undefined {
  const { members, key } = membersAround(root, pointer);
  return members.filter((each) => each.key === key).length > 2 ? undefined : without(root, pointer);
}

/** The digits of a number without a needless zero, and its exponent: equal for equal numbers. Undefined for infinity. */
function digitsOf(literal: string): string | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (whole === "") return undefined;
  return `${sign}${short}e${short === "" ? 0 : Number(exponent) - fraction.length + digits.length - short.length}`;
}

const huge = 1024 * 1024;

/** The maximum number of findings on one frame. */
const mostFindings = 20;

/** Finds faults of one value or of its names; `token` is appended to the pointer. */
type Look = (node: JsonNode, bytes: Uint8Array) => Iterable<Finding & { readonly token?: string }>;

/** Applies `look` to every value of a frame, in order. */
function findings({ frame, json }: FrameReading, look: Look): readonly Finding[] {
  if (json.isPlain) return nothing;
  const { bytes } = frame;
  const { root } = json;
  const found: Finding[] = [];
  /** The path to the value, which becomes a pointer only for a finding. */
  const path: (string | number)[] = [];
  const visit = (node: JsonNode): void => {
    if (found.length >= mostFindings) return;
    for (const { token, ...finding } of look(node, bytes)) {
      const names = token === undefined ? path : [...path, token];
      found.push({ ...finding, pointer: names.map((name) => `/${pointerToken(name)}`).join("") });
    }
    if (node.kind === "array") for (const [index, element] of node.elements.entries()) enter(index, element);
    else if (node.kind === "object") for (const { key, value } of node.members) enter(key, value);
  };
  const enter = (name: string | number, node: JsonNode): void => {
    path.push(name);
    visit(node);
    path.pop();
  };
  if (root !== undefined) visit(root);
  return found.slice(0, mostFindings);
}

const nothing: readonly Finding[] = [];

const repeatedNames: Look = function* (node) {
  if (node.kind !== "object") return;
  const seen = new Set<string>();
  for (const { key, keyStart, value } of node.members) {
    if (seen.has(key))
      yield { says: `the name ${quoted(key)} occurred here before`, token: key, range: [keyStart, value.end] };
    seen.add(key);
  }
};

/** The maximum number of digits at which every integer is exact in a double. */
const safeDigits = 15;

const changedNumber: Look = (node, bytes) => {
  if (node.kind !== "number" || isSmallInteger(node, bytes)) return nothing;
  const literal = literalOf(node, bytes);
  const read = String(Number(literal));
  if (read === literal) return nothing;
  return [{ says: `most readers make ${read} of ${literal.slice(0, 60)}`, range: [node.start, node.end] }];
};

function isSmallInteger({ start, end }: JsonNode, bytes: Uint8Array): boolean {
  if (end - start > safeDigits) return false;
  for (let at = start; at < end; at += 1) if ((bytes[at] ?? 0) < 0x30 || (bytes[at] ?? 0) > 0x39) return false;
  return true;
}

const halfPair: Look = function* (node, bytes) {
  if (node.kind === "object") {
    for (const { key, keyStart, keyEnd } of node.members)
      if (surrogate.test(key))
        yield { says: "the name has half of a surrogate pair", token: key, range: [keyStart, keyEnd] };
  } else if (node.kind === "string" && hasEscape(node, bytes) && surrogate.test(stringOf(node, bytes)))
    yield { says: "the string has half of a surrogate pair", range: [node.start, node.end] };
};

function hasEscape({ start, end }: JsonNode, bytes: Uint8Array): boolean {
  return bytes.subarray(start, end).includes(backslash);
}

const backslash = 0x5c;
const surrogate = /\p{Surrogate}/u;

function quoted(key: string): string {
  return escapeControls(JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key));
}

function milliseconds(time: number): string {
  return time < 10 ? `${time.toFixed(1)} ms` : `${Math.round(time)} ms`;
}
