import { Conversation, type Entry, type ReportOptions } from "@parlance/wire";
import type { Pace } from "../pace.js";
import { RecordingReader } from "./recording-reader.js";

/** What a file of a recording holds. */
export interface RecordedConversation {
  /** The name of the recording. */
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
  /** The address of the file, relative to where the command runs. */
  readonly uri: string;
  /** The line of the file that something stands on, by its number; of a gap by its time. */
  readonly lineOf: NonNullable<ReportOptions["lineOf"]>;
}

/** Opens the recording that a word of the command line means. @throws Failure for one that cannot be opened, or is damaged */
export async function openRecorded(word: string, pace: Pace): Promise<RecordedConversation> {
  const reader = await RecordingReader.find(word, pace);
  return recordedConversation(reader, reader.entries());
}

/** The conversation that entries hold, which are those of a recording or were made of them. */
export async function recordedConversation(
  { title, uri, lines }: RecordingReader,
  from: AsyncIterable<Entry>,
): Promise<RecordedConversation> {
  const entries: Entry[] = [];
  const conversation = new Conversation();
  for await (const entry of from) {
    entries.push(entry);
    conversation.push(entry);
  }
  conversation.finish();
  return { title, entries, conversation, uri, lineOf: lines.of };
}
