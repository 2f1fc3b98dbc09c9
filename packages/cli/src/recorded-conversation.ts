import { Conversation, type Entry, type ReportOptions } from "@parlance/mcp/wire";
import { exitCodes } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { findRecording, nameOfRecording } from "./recordings/find-recording.js";
import { readRecordingFile } from "./recordings/read-recording.js";
import { RecordedLines } from "./recordings/recorded-lines.js";
import { uriOf } from "./recordings/recording-source.js";

/** What a file of a recording holds. */
export interface RecordedConversation {
  /** As people say it. */
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
  /** The address of the file, relative to where the command runs. */
  readonly uri: string;
  /** The line of the file that something stands on, by its number; of a gap by its time. */
  readonly lineOf: NonNullable<ReportOptions["lineOf"]>;
}

/**
 * Opens the recording that a word of the command line means. A last line that was never finished is no damage: whoever
 * wrote it was killed. @throws Failure for one that cannot be opened, or is damaged
 */
export async function openRecorded(word: string): Promise<RecordedConversation> {
  const path = await findRecording(word, process.env);
  const entries: Entry[] = [];
  const lines = new RecordedLines();
  for await (const item of readRecordingFile(path)) {
    if (item.damage === undefined) {
      entries.push(item.entry);
      lines.note(item.entry, item.place.line);
    } else if (!item.damage.torn)
      throw new Failure(`${path} is damaged in line ${item.damage.line}: ${item.damage.says}`, {
        exitCode: exitCodes.damaged,
        remedy: `parlance check ${path} judges what can be read of it`,
      });
  }
  const conversation = conversationOf(entries);
  return { title: nameOfRecording(path), entries, conversation, uri: uriOf(path), lineOf: lines.of };
}

/** The conversation that entries hold. */
export function conversationOf(entries: readonly Entry[]): Conversation {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return conversation;
}
