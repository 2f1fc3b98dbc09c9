import { Conversation, type Entry } from "@parlance/mcp/wire";
import { exitCodes } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { findRecording, nameOfRecording } from "./recordings/find-recording.js";
import { readRecordingFile } from "./recordings/read-recording.js";

/** What a file of a recording holds. */
export interface RecordedConversation {
  /** As people say it. */
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
}

/**
 * Opens the recording that a word of the command line means. A last line that was never finished is no damage: whoever
 * wrote it was killed. @throws Failure for one that cannot be opened, or is damaged
 */
export async function openRecorded(word: string): Promise<RecordedConversation> {
  const path = await findRecording(word, process.env);
  const entries: Entry[] = [];
  for await (const { entry, damage } of readRecordingFile(path)) {
    if (entry !== undefined) entries.push(entry);
    else if (!damage.torn)
      throw new Failure(`${path} is damaged in line ${damage.line}: ${damage.says}`, {
        exitCode: exitCodes.damaged,
        remedy: `parlance check ${path} judges what can be read of it`,
      });
  }
  return { title: nameOfRecording(path), entries, conversation: conversationOf(entries) };
}

/** The conversation that entries hold. */
export function conversationOf(entries: readonly Entry[]): Conversation {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return conversation;
}
