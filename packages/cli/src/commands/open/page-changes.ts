import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { PageChanges, PageValue } from "@parlance/web/protocol";
import { type Conversation, differencesOfMessages, literalOf, nodeAt, type WireMessage } from "@parlance/wire";

/** The maximum number of differences on a page, and of characters of a value. */
const most = 200;
const longest = 400;

/** The differences of a message from the previous one of the same method; undefined for the first. */
export function changesOf(n: number, conversation: Conversation | undefined): PageChanges | undefined {
  const rows = conversation?.rows ?? [];
  const place = rows.findIndex((row) => row.n === n);
  const message = rows[place]?.messages[0];
  if (message === undefined || methodOf(message) === undefined) return undefined;
  let before: WireMessage | undefined;
  for (let at = place - 1; at >= 0; at -= 1) {
    const found = rows[at]?.messages.find((each) => isLike(each, message));
    if (found === undefined) continue;
    before ??= found;
    // An earlier message of the same tool is better than a newer one of another tool.
    if (namesOf(found) !== namesOf(message)) continue;
    before = found;
    break;
  }
  if (before === undefined) return undefined;
  const all = differencesOfMessages(before, message);
  return {
    before: before.frame.n,
    count: all.length,
    changes: all.slice(0, most).map(({ pointer }) => ({
      pointer: escapeControls(pointer),
      before: valueAt(before, pointer),
      after: valueAt(message, pointer),
    })),
  };
}

function methodOf({ method, concerns }: WireMessage): string | undefined {
  return method ?? concerns?.request.method;
}

function namesOf({ names, concerns }: WireMessage): string | undefined {
  return names ?? concerns?.request.names;
}

/** Whether two messages can be compared: both are requests, notifications, or responses (results or errors). */
function isLike(one: WireMessage, other: WireMessage): boolean {
  const isSameKind = one.kind === other.kind || (one.method === undefined && other.method === undefined);
  return isSameKind && one.from === other.from && methodOf(one) === methodOf(other);
}

function valueAt({ node, frame }: WireMessage, pointer: string): PageValue | undefined {
  const found = nodeAt(node, pointer);
  if (found === undefined) return undefined;
  const text = literalOf(found, frame.bytes);
  return {
    json: escapeControls(text.slice(0, longest)) + (text.length > longest ? " …" : ""),
    range: [found.start, found.end],
  };
}
