import { Conversation, type Damage, type EndEntry, type HeaderEntry, type Row } from "@parlance/mcp/wire";
import { readRecordingFile } from "./read-recording.js";

/** A recording that was read to its end. */
export interface LoadedRecording {
  readonly conversation: Conversation;
  readonly header: HeaderEntry | undefined;
  readonly end: EndEntry | undefined;
  readonly damages: readonly Damage[];
  /** The line of the file that a row stands on. */
  readonly lines: ReadonlyMap<Row, number>;
}

/** Reads all of a recording. @throws Failure where it cannot be opened */
export async function loadRecording(path: string): Promise<LoadedRecording> {
  const conversation = new Conversation();
  const damages: Damage[] = [];
  const lines = new Map<Row, number>();
  let header: HeaderEntry | undefined;
  let end: EndEntry | undefined;
  for await (const item of readRecordingFile(path)) {
    if (item.damage !== undefined) {
      damages.push(item.damage);
      continue;
    }
    const { entry, place } = item;
    if (entry.k === "hdr") header = entry;
    if (entry.k === "end") end = entry;
    const row = conversation.push(entry);
    if (row !== undefined) lines.set(row, place.line);
  }
  conversation.finish();
  return { conversation, header, end, damages, lines };
}
