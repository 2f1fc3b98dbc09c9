import { Conversation, type Entry, type reportOf } from "@parlance/wire";
import type { Pace } from "../pace.js";
import { RecordingReader } from "./recording-reader.js";

type ReportOptions = Parameters<typeof reportOf>[0];

/** What a file of a recording holds. */
export interface RecordedConversation {
  /** The name of the recording. */
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
  /** The address of the file, relative to where the command runs. */
  readonly uri: string;
  /** The line of an entry in the file, by its number; of a gap by its time. */
  readonly lineOf: NonNullable<ReportOptions["lineOf"]>;
}

/** Opens the recording that an argument names. @throws Failure for one that cannot be opened, or is damaged */
export async function openRecorded(word: string, pace: Pace): Promise<RecordedConversation> {
  const reader = await RecordingReader.find(word, pace);
  return recordedConversation(reader, reader.entries());
}

/** Reads entries into a conversation. */
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
