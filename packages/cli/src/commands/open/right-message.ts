import { escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject, methodAliases } from "@parlance/mcp/protocol";
import type { PageVerdict } from "@parlance/web/protocol";
import {
  type Conversation,
  literalOf,
  nodeAt,
  type Row,
  scanJson,
  type Verdict,
  type WireMessage,
} from "@parlance/wire";

/** Characters that show before and after what differs. */
const around = 60;

/** A part of the text of a frame, and what should have been there. */
interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The message that would have broken no rule, around the place where it differs: where there is one such message, which the conversation tells.
 * Most verdicts have none: nothing says which number a server should have sent in place of a text.
 */
export function rightMessage(verdict: Verdict, row: Row, conversation: Conversation): PageVerdict["right"] {
  const { frame, messages } = row;
  const { id } = verdict.rule;
  if (silent.has(id)) return ["", "", ""];
  const [message, ...others] = messages;
  const read = changes[id];
  if (frame === undefined || read === undefined || message === undefined || others.length > 0) return undefined;
  const change = read(verdict, message, conversation);
  if (change === undefined) return undefined;
  const { bytes } = frame;
  const part = (start: number, end: number): string => escapeControls(literalOf({ start, end }, bytes));
  const [before, after] = [part(0, change.start), part(change.end, bytes.length)];
  return [
    before.length > around ? `… ${before.slice(-around)}` : before,
    escapeControls(change.text),
    after.length > around ? `${after.slice(0, around)} …` : after.trimEnd(),
  ];
}

/** The rules that forbid a message at all. */
const silent: ReadonlySet<string> = new Set(["S-2", "S-3", "R-7", "P-4", "X-2", "C-4", "U-3", "U-4"]);

type ReadChange = (verdict: Verdict, message: WireMessage, conversation: Conversation) => Change | undefined;

const changes: Readonly<Record<string, ReadChange>> = {
  "R-1": ({ pointer }, { node }) => {
    if (pointer !== "/jsonrpc" || node.kind !== "object") return undefined;
    const written = nodeAt(node, "/jsonrpc");
    if (written !== undefined) return { start: written.start, end: written.end, text: '"2.0"' };
    const place = node.start + 1;
    return { start: place, end: place, text: `"jsonrpc":"2.0"${node.members.length > 0 ? "," : ""}` };
  },
  "R-5": ({ pointer }, { node, context: { pairing } }) =>
    pointer === "/id" && pairing?.is === "other type" ? inPlace(node, "/id", pairing.operation.request.id) : undefined,
  "R-8": (_, { node }) => without(node, "id"),
  "M-3": (_, { node, method = "" }) => {
    const alias = methodAliases.get(method);
    return alias && inPlace(node, "/method", JSON.stringify(alias.method));
  },
  "N-1": ({ pointer }, { node }) => {
    const result = nodeAt(node, "/result");
    if (result?.kind !== "object" || pointer !== "/result/resultType" || nodeAt(result, "/resultType") !== undefined)
      return undefined;
    const comma = result.members.length > 0 ? "," : "";
    return { start: result.start + 1, end: result.start + 1, text: `"resultType":"complete"${comma}` };
  },
  "P-1": (_, message, conversation) => inPlace(message.node, "/params/progressToken", openToken(message, conversation)),
  "T-4": (_, message) => {
    const { node, result } = message;
    const written = nodeAt(node, "/result");
    const [block]: readonly unknown[] = Array.isArray(result?.content) ? result.content : [];
    const text = isObject(block) && typeof block.text === "string" ? block.text : "";
    const scan = scanJson(new TextEncoder().encode(text));
    if (written?.kind !== "object" || !scan.ok || scan.root.kind !== "object") return undefined;
    const place = written.end - 1;
    return { start: place, end: place, text: `,"structuredContent":${text}` };
  },
  "T-9": (_, message) => {
    const { node } = message;
    const error = message.member("error");
    const member = node.kind === "object" ? node.members.find(({ key }) => key === "error") : undefined;
    if (member === undefined || !isObject(error) || typeof error.message !== "string") return undefined;
    const result = { content: [{ type: "text", text: error.message }], isError: true };
    return { start: member.keyStart, end: member.value.end, text: `"result":${JSON.stringify(result)}` };
  },
};

type Node = WireMessage["node"];

function inPlace(node: Node, pointer: string, text: string | undefined): Change | undefined {
  const written = nodeAt(node, pointer);
  return written && text !== undefined ? { start: written.start, end: written.end, text } : undefined;
}

/** Leaves a member out, with a comma beside it. */
function without(node: Node, name: string): Change | undefined {
  if (node.kind !== "object") return undefined;
  const place = node.members.findIndex(({ key }) => key === name);
  const [member, before, after] = [node.members[place], node.members[place - 1], node.members[place + 1]];
  if (member === undefined) return undefined;
  if (after !== undefined) return { start: member.keyStart, end: after.keyStart, text: "" };
  return { start: before?.value.end ?? member.keyStart, end: member.value.end, text: "" };
}

/** The progress token of the other side's request that was open then, if there was exactly one. */
function openToken({ frame, from }: WireMessage, { rows }: Conversation): string | undefined {
  const tokens = rows.flatMap(({ messages }) =>
    messages.flatMap(({ kind, from: asking, operation, node, frame: asked }) => {
      const wasOpen =
        kind === "req" && asking !== from && asked.n < frame.n && !((operation?.answer?.frame.n ?? frame.n) < frame.n);
      const token = wasOpen ? nodeAt(node, "/params/_meta/progressToken") : undefined;
      return token === undefined ? [] : [literalOf(token, asked.bytes)];
    }),
  );
  return tokens.length === 1 ? tokens[0] : undefined;
}
