import { escapeControls } from "@parlance/mcp/jsonrpc";
import { Conversation, type ConversationOptions } from "../conversation/conversation.js";
import type { Entry } from "../recording/entry.js";
import type { Verdict } from "../rules/rule.js";
import { wording } from "./report-words.js";

/** The violations of the protocol in a conversation, in order; for tests of any server or client. */
export function violations(entries: Iterable<Entry>, options: ConversationOptions = {}): readonly Verdict[] {
  const conversation = new Conversation(options);
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return conversation.verdicts.filter(({ level }) => level === "must");
}

/** A verdict in one line, safe to print: the side, the rule, the place and the fault. */
export function describeVerdict(verdict: Verdict): string {
  const { n, rule, party, pointer, header } = verdict;
  const place = pointer === undefined || pointer === "" ? header : pointer;
  return `frame ${n}: the ${party} breaks ${rule.id}${place === undefined ? "" : ` at ${escapeControls(place)}`}: ${escapeControls(wording.messageWithoutPlace(verdict))}`;
}
