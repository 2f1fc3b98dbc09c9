import { Conversation, describeRedaction, type Entry, Redaction, type Verdict } from "@parlance/wire";
import type { RecordingReader } from "./recording-reader.js";
import { childHeader } from "./recording-text.js";

type SecretsOptions = NonNullable<ConstructorParameters<typeof Redaction>[0]>;

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

/** The verdicts on the frames and heads that have some, by their numbers. */
async function judged(source: RecordingReader, redaction: Redaction): Promise<ReadonlyMap<number, readonly Verdict[]>> {
  const conversation = new Conversation({ keepRows: false });
  const verdicts = new Map<number, readonly Verdict[]>();
  for await (const entry of source.entries()) {
    redaction.learn(entry);
    const row = conversation.push(entry);
    // The head of an HTTP request gets its verdicts when the response arrives.
    if (row?.n !== undefined && (entry.k === "h" || row.verdicts.length > 0)) verdicts.set(row.n, row.verdicts);
  }
  conversation.finish();
  return verdicts;
}
