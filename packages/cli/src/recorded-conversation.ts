import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { Conversation, type Entry, readRecording } from "@parlance/mcp/wire";
import { Failure } from "./failure.js";

/** What a file of a recording holds. */
export interface RecordedConversation {
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
}

/** Opens a recording. @throws Failure if there is none, or nothing can be read */
export async function openRecorded(path: string): Promise<RecordedConversation> {
  const file = await readFile(path).catch((cause: unknown) => {
    throw new Failure(`${path} cannot be read`, { exitCode: 1, cause });
  });
  const { entries } = readRecording(file[0] === 0x1f && file[1] === 0x8b ? gunzipSync(file) : file);
  return { title: path, entries, conversation: conversationOf(entries) };
}

/** The conversation that entries hold. */
export function conversationOf(entries: readonly Entry[]): Conversation {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return conversation;
}
