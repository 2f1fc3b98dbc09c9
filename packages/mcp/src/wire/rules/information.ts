import { pointerToken } from "../../base/json.js";
import { visible } from "../../base/visible.js";
import { methods } from "../../protocol/methods.js";
import type { FrameEntry } from "../entry.js";
import { type JsonNode, literalOf } from "../json-node.js";
import type { Finding, FrameReading, Rule } from "../rule.js";
import { ofJson, onStdio } from "./pages.js";

/** What breaks nothing, and is what a person who looks for a fault would like to know. */
export const informationRules: readonly Rule[] = [
  {
    id: "I-1",
    level: "info",
    party: "either",
    demands: "A name stands once in an object: readers differ on which of several counts, and most take the last",
    page: ofJson("section-4"),
    on: "frame",
    check: (reading) => findings(reading, repeatedNames),
  },
  {
    id: "I-2",
    level: "info",
    party: "either",
    demands:
      "A number is one that every reader can hold: most know no more than 53 bits, and write numbers in their own way",
    page: ofJson("section-6"),
    on: "frame",
    check: (reading) => findings(reading, changedNumber),
  },
  {
    id: "I-3",
    level: "info",
    party: "either",
    demands: "A string is text: half of a surrogate pair is none, and no UTF-8 can hold it",
    page: ofJson("section-8.2"),
    on: "frame",
    check: (reading) => findings(reading, halfPair),
  },
  {
    id: "I-4",
    level: "info",
    party: "either",
    demands: "No byte order mark stands before a JSON text: most readers refuse it",
    page: ofJson("section-8.1"),
    on: "frame",
    *check({ frame: { bytes } }) {
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
        yield { says: "it begins with a byte order mark", range: [0, 3] };
    },
  },
  {
    id: "I-5",
    level: "info",
    party: "either",
    demands: "A line ends with a line feed; a carriage return before it is space, which readers skip",
    page: onStdio,
    on: "frame",
    *check({ frame: { entry } }) {
      if (entry.nl === "\r\n") yield { says: "the line ends with a carriage return and a line feed" };
    },
  },
  {
    id: "I-6",
    level: "info",
    party: "either",
    demands: "A request takes about as long as others of its method",
    page: "basic",
    on: "message",
    *check({ operation, context: { pairing }, frame: { entry } }, session) {
      const method = operation?.request.method;
      if (pairing?.is !== "answer" || operation === undefined || method === undefined || method === methods.listen)
        return;
      const usual = session.usualTime(method);
      const took = entry.t - arrivalOf(operation.request.frame.entry);
      if (usual !== undefined && took > 4 * usual)
        yield { says: `it took ${milliseconds(took)}, where most take up to ${milliseconds(usual)}`, pointer: "/id" };
    },
  },
  {
    id: "I-7",
    level: "info",
    party: "either",
    demands: "A message is small enough to be held whole, by everyone on its way",
    page: "basic",
    on: "frame",
    *check({ frame: { entry } }) {
      if (entry.len > huge) yield { says: `it has ${(entry.len / huge).toFixed(1)} MiB` };
    },
  },
];

const huge = 1024 * 1024;

/** More than anyone reads. */
const mostFindings = 20;

/** What is to be said of one value, or of one of its names; its pointer goes on with `token`. */
type Look = (node: JsonNode, bytes: Uint8Array) => Iterable<Finding & { readonly token?: string }>;

/** Looks at every value of a frame, in the order in which they stand there. */
function* findings({ frame: { bytes }, root }: FrameReading, look: Look): Iterable<Finding> {
  let count = 0;
  if (root === undefined) return;
  for (const { node, pointer } of nodesOf(root, "")) {
    for (const { token, ...finding } of look(node, bytes)) {
      if (count === mostFindings) return;
      count += 1;
      yield { ...finding, pointer: pointer() + (token === undefined ? "" : `/${pointerToken(token)}`) };
    }
  }
}

interface Place {
  readonly node: JsonNode;
  /** Worked out only where there is something to say. */
  readonly pointer: () => string;
}

function* nodesOf(root: JsonNode, from: string): Iterable<Place> {
  const waiting: Place[] = [{ node: root, pointer: () => from }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    yield place;
    waiting.push(...childrenOf(place).toReversed());
  }
}

function childrenOf({ node, pointer }: Place): readonly Place[] {
  if (node.kind === "array")
    return node.elements.map((element, index) => ({ node: element, pointer: () => `${pointer()}/${index}` }));
  if (node.kind !== "object") return [];
  return node.members.map(({ key, value }) => ({ node: value, pointer: () => `${pointer()}/${pointerToken(key)}` }));
}

const repeatedNames: Look = function* (node) {
  if (node.kind !== "object") return;
  const seen = new Set<string>();
  for (const { key, keyStart, value } of node.members) {
    if (seen.has(key))
      yield { says: `the name ${quoted(key)} stood here before`, token: key, range: [keyStart, value.end] };
    seen.add(key);
  }
};

/** Every integer of so many digits is one for a double. */
const safeDigits = 15;

const changedNumber: Look = function* (node, bytes) {
  if (node.kind !== "number" || isSmallInteger(node, bytes)) return;
  const literal = literalOf(node, bytes);
  const read = String(Number(literal));
  if (read !== literal)
    yield { says: `most readers make ${read} of ${literal.slice(0, 60)}`, range: [node.start, node.end] };
};

function isSmallInteger({ start, end }: JsonNode, bytes: Uint8Array): boolean {
  if (end - start > safeDigits) return false;
  return bytes.subarray(start, end).every((byte) => byte >= 0x30 && byte <= 0x39);
}

const halfPair: Look = function* (node, bytes) {
  if (node.kind === "object") {
    for (const { key, keyStart, keyEnd } of node.members)
      if (surrogate.test(key))
        yield { says: "the name has half of a surrogate pair", range: [keyStart, keyEnd], token: key };
  }
  // Only an escape can say it: UTF-8 has no bytes for it.
  if (node.kind !== "string" || !bytes.subarray(node.start, node.end).includes(backslash)) return;
  if (surrogate.test(JSON.parse(literalOf(node, bytes)) as string))
    yield { says: "the string has half of a surrogate pair", range: [node.start, node.end] };
};

const backslash = 0x5c;
const surrogate = /\p{Surrogate}/u;

function quoted(key: string): string {
  return visible(JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key));
}

function arrivalOf({ t, t1 = t }: FrameEntry): number {
  return t1;
}

function milliseconds(time: number): string {
  return time < 10 ? `${time.toFixed(1)} ms` : `${Math.round(time)} ms`;
}
