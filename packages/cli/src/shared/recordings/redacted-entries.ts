import {
  Conversation,
  describeRedaction,
  type Entry,
  Redaction,
  type SecretsOptions,
  type Verdict,
} from "@parlance/wire";
import type { RecordingReader } from "./recording-reader.js";
import { childHeader } from "./recording-text.js";

/** The lines of a recording without its secrets, and how many pieces were covered so far. */
export interface RedactedEntries {
  readonly entries: AsyncIterable<Entry>;
  readonly covered: number;
}

/**
 * Reads a recording to judge it and to find its secrets; gives its lines without them, and with the verdicts, as they are read
 * a second time.
 */
export async function redactedEntries(source: RecordingReader, options: SecretsOptions): Promise<RedactedEntries> {
  const redaction = new Redaction(options);
  const verdicts = await judged(source, redaction);
  const words = describeRedaction(options);
  const covered = async function* (): AsyncGenerator<Entry> {
    for await (const entry of source.entries()) {
      const own = entry.k === "f" || entry.k === "h" ? (verdicts.get(entry.n) ?? []) : undefined;
      const line = redaction.cover(entry, own);
      yield line.k === "hdr" ? childHeader(line, words) : line;
    }
  };
  return {
    entries: covered(),
    get covered() {
      return redaction.covered;
    },
  };
}

/** The verdicts on the frames that have some, by their numbers. */
async function judged(source: RecordingReader, redaction: Redaction): Promise<ReadonlyMap<number, readonly Verdict[]>> {
  const conversation = new Conversation();
  for await (const entry of source.entries()) {
    redaction.learn(entry);
    conversation.push(entry);
  }
  conversation.finish();
  return new Map(
    conversation.rows.flatMap(({ n, verdicts }) => (n === undefined || verdicts.length === 0 ? [] : [[n, verdicts]])),
  );
}
