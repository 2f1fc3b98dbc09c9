// Building blocks of corrections: changes of the text of a message, and what the conversation tells about it.

import { isObject } from "@parlance/mcp/protocol";
import { type RecordedOperation, WireMessage } from "../../conversation/message.js";
import type { WireSession } from "../../conversation/session.js";
import { type JsonMember, type JsonNode, literalOf, namesIn, nodeAt } from "../../json/json-node.js";
import { Frame, joined, recordedBytes, type Sender } from "../../recording/frame.js";
import type { Correction, Faulty } from "../rule.js";

/** The correction of a rule that forbids the frame. */
export const nothing = (): Correction => ({ is: "nothing" });

/** The correction of a header. */
export function header(name: string, value: string | undefined): Correction | undefined {
  return value === undefined ? undefined : { is: "header", name, value };
}

/** A value of a message as it was written; undefined if it is absent. */
export function literalAt({ node, frame }: WireMessage, pointer: string): string | undefined {
  const written = nodeAt(node, pointer);
  return written && literalOf(written, frame.bytes);
}

/** Other text in place of a value; undefined without the value. */
export function replaced(root: JsonNode, pointer: string, text: string | undefined): Correction | undefined {
  const written = nodeAt(root, pointer);
  return written && text !== undefined ? { is: "text", start: written.start, end: written.end, text } : undefined;
}

/** Another value, or a member that was absent, as the last of its object; undefined without the value. */
export function put(root: JsonNode, pointer: string, text: string | undefined): Correction | undefined {
  if (text === undefined || nodeAt(root, pointer) !== undefined) return replaced(root, pointer, text);
  const [parent, key] = splitPointer(pointer);
  const member = `${JSON.stringify(key)}:${text}`;
  const object = nodeAt(root, parent);
  if (object === undefined) return parent === "" ? undefined : put(root, parent, `{${member}}`);
  if (object.kind !== "object") return undefined;
  const last = object.members.at(-1);
  const place = last?.value.end ?? object.start + 1;
  return { is: "text", start: place, end: place, text: last === undefined ? member : `,${member}` };
}

/** The message without a member, and without the comma beside it. */
export function without(root: JsonNode, pointer: string): Correction | undefined {
  const { members, key } = membersAround(root, pointer);
  const place = members.findIndex((each) => each.key === key);
  const [member, before, after] = [members[place], members[place - 1], members[place + 1]];
  if (member === undefined) return undefined;
  if (after !== undefined) return { is: "text", start: member.keyStart, end: after.keyStart, text: "" };
  return { is: "text", start: before?.value.end ?? member.keyStart, end: member.value.end, text: "" };
}

/** The member with another name and another value. */
export function renamed(root: JsonNode, pointer: string, name: string, text: string): Correction | undefined {
  const { members, key } = membersAround(root, pointer);
  const member = members.findLast((each) => each.key === key);
  return (
    member && { is: "text", start: member.keyStart, end: member.value.end, text: `${JSON.stringify(name)}:${text}` }
  );
}

/** A message that should have been sent before the frame, on stdio. Over HTTP it has an exchange of its own. */
export function before({ frame }: WireMessage, message: object): Correction | undefined {
  if (!isLine(frame)) return undefined;
  return { is: "text", start: 0, end: 0, text: `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n` };
}

/** The messages of a batch as lines of their own, on stdio; over HTTP only if it has one. */
export function unbatched(frame: Frame): Correction | undefined {
  const { root } = frame.json;
  if (root?.kind !== "array") return undefined;
  const lines = root.elements.map((element) => literalOf(element, frame.bytes));
  if (lines.length === 0) return nothing();
  if (lines.length > 1 && !isLine(frame)) return undefined;
  return { is: "text", start: root.start, end: root.end, text: lines.join("\n") };
}

function isLine({ entry: { ch } }: Frame): boolean {
  return ch === "stdin" || ch === "stdout";
}

/** The pointer to the parent of a place, and the name of the member. */
function splitPointer(pointer: string): readonly [parent: string, key: string] {
  const at = Math.max(0, pointer.lastIndexOf("/"));
  return [pointer.slice(0, at), namesIn(pointer).at(-1) ?? ""];
}

/** The members of the object that holds a place, none if it is not an object; and the name of the member. */
export function membersAround(root: JsonNode, pointer: string): { members: readonly JsonMember[]; key: string } {
  const [parent, key] = splitPointer(pointer);
  const object = nodeAt(root, parent);
  return { members: object?.kind === "object" ? object.members : [], key };
}

/** The frame after a correction of its text. */
export function correctedFrame({ entry, bytes }: Frame, { start, end, text }: TextCorrection): Frame {
  const whole = joined([bytes.subarray(0, start), new TextEncoder().encode(text), bytes.subarray(end)]);
  const { raw: _raw, b64: _b64, ...rest } = entry;
  return new Frame({ ...rest, len: whole.length, ...recordedBytes(whole) });
}

type TextCorrection = Extract<Correction, { is: "text" }>;

/** The first of several corrections after which the rule has no finding at the place, and fewer than before. */
export function firstThatKeeps(
  { subject, pointer, findings }: Faulty<WireMessage>,
  proposals: Iterable<Correction | undefined>,
): Correction | undefined {
  const before = [...findings(subject)].length;
  for (const proposal of proposals) {
    if (proposal?.is !== "text") continue;
    const frame = correctedFrame(subject.frame, proposal);
    const index = subject.pointer === "" ? undefined : Number(subject.pointer.slice(1));
    if (frame.json.root === undefined) continue;
    const message = new WireMessage(frame, index, () => subject.context);
    if (subject.operation?.request === subject) message.begin(subject.operation);
    const left = [...findings(message)];
    if (left.length < before && left.every((finding) => (finding.pointer ?? "") !== pointer)) return proposal;
  }
  return undefined;
}

/** A value as it may have been meant: in another type, alone in a list, without a list, as a text block, or absent. */
export function* meantValues({
  subject: { node, frame },
  pointer,
}: Faulty<WireMessage>): Iterable<Correction | undefined> {
  const written = nodeAt(node, pointer);
  if (written === undefined) {
    yield misspelt(node, pointer);
    return;
  }
  const literal = literalOf(written, frame.bytes);
  if (written.kind === "null") yield without(node, pointer);
  if (written.kind === "string") {
    const text = JSON.parse(literal) as string; // The scan found a string.
    if (isJson(text.trim())) yield replaced(node, pointer, text.trim());
    yield replaced(node, pointer, JSON.stringify([{ type: "text", text }]));
  }
  if (written.kind === "number" || written.kind === "true" || written.kind === "false")
    yield replaced(node, pointer, JSON.stringify(literal));
  if (written.kind !== "array") yield replaced(node, pointer, `[${literal}]`);
  const [only, ...others] = written.kind === "array" ? written.elements : [];
  if (only !== undefined && others.length === 0) yield replaced(node, pointer, literalOf(only, frame.bytes));
}

/** Whether a text is JSON, other than a string or null. */
export function isJson(text: string): boolean {
  if (!/^(?:[[{]|-?\d|true$|false$)/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // The text is prose.
  }
}

/** A member whose name is that of an absent one, apart from its case and its separators. */
export function misspelt(root: JsonNode, pointer: string): Correction | undefined {
  const { members, key } = membersAround(root, pointer);
  const alike = members.find((each) => lettersOf(each.key) === lettersOf(key));
  return alike && { is: "text", start: alike.keyStart, end: alike.keyEnd, text: JSON.stringify(key) };
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z\d]/g, "");
}

/** The name of a list that has the same words as a given name, in any order, case and number; undefined if it is not just one. */
export function sameWords(given: string, names: Iterable<string>): string | undefined {
  const wanted = wordsOf(given);
  const [found, ...others] = [...new Set(names)].filter((name) => wordsOf(name) === wanted);
  return others.length === 0 ? found : undefined;
}

function wordsOf(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return words
    .map((word) => word.replace(/s$/, ""))
    .filter(Boolean)
    .toSorted()
    .join(" ");
}

/** The requests of a side that waited when a message was sent; over HTTP those of its exchange, if it carries any. */
export function waitingRequests(
  { frame }: WireMessage,
  from: Sender,
  { operations }: WireSession,
): readonly RecordedOperation[] {
  const isLater = (other: WireMessage | undefined): boolean => other === undefined || other.frame.n >= frame.n;
  const waiting = operations.filter(
    ({ request, answer, cancel }) =>
      request.from === from && request.frame.n < frame.n && isLater(answer) && isLater(cancel),
  );
  const near = waiting.filter(({ request }) => request.frame.entry.req === frame.entry.req);
  return near.length > 0 ? near : waiting;
}

/** The correction by the only candidate. A message without any should not have been sent; several leave open what was meant. */
export function byOnly<Candidate>(
  [only, ...others]: readonly Candidate[],
  correct: (only: Candidate) => Correction | undefined,
): Correction | undefined {
  if (only === undefined) return nothing();
  return others.length === 0 ? correct(only) : undefined;
}

/** An integer that a side has used neither as an id nor as a progress token. */
export function unusedNumber(from: Sender, { operations }: WireSession): string {
  const own = operations.filter(({ request }) => request.from === from).map(({ request }) => request);
  const used = own.flatMap((request) => {
    const { _meta: meta } = request.params;
    return [request.member("id"), isObject(meta) ? meta.progressToken : undefined];
  });
  return String(
    1 + Math.max(0, ...(used.filter((each) => typeof each === "number" && Number.isSafeInteger(each)) as number[])),
  );
}
