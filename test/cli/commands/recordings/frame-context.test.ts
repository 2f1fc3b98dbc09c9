import { latest, latestHandshake, versions } from "@parlance/mcp";
import {
  Conversation,
  type Entry,
  encodeEntry,
  latencyOf,
  pairOf,
  RecordingDecoder,
  type Row,
  readRecording,
} from "@parlance/wire";
import { expect, test } from "vitest";
import { contextOfFrame } from "../../../../packages/cli/src/commands/recordings/frame-context.js";
import { inForm, isLong } from "../../../testing/forms.js";
import { header, stdioFrame } from "../../../wire/recording/recorded.js";
import { cases } from "../../../wire/rules/cases/all-cases.js";
import { entriesOf } from "../../../wire/rules/rule-case.js";
import { talkOf } from "../../../wire/rules/talk.js";

/** Calls that are put between the frames of a transcript, so that it has a remote end. */
const between = 40;

/** A transcript with many calls before each of its last three frames. Its own frames keep their order. */
function stretched(entries: readonly Entry[], asked: (id: number) => string): readonly Entry[] {
  let [n, id] = [0, 100_000];
  const all: Entry[] = [header];
  for (const [at, entry] of entries.entries()) {
    const isLate = at >= entries.length - 3 && at > 0;
    for (let count = 0; isLate && count < between; count += 1) {
      id += 1;
      n += 2;
      all.push(stdioFrame(n - 1, `→ ${asked(id)}`));
      all.push(stdioFrame(n, `← {"jsonrpc":"2.0","id":${id},"result":{}}`));
    }
    n += 1;
    all.push({ ...entry, ...("n" in entry && { n }), ...("t" in entry && { t: n }) });
  }
  return all;
}

function shown(row: Row | undefined): unknown {
  const messages = row?.messages.map((message) => [
    message.kind,
    pairOf(message),
    latencyOf(message),
    message.revision?.version,
  ]);
  const verdicts = row?.verdicts.map(({ rule, party, n, pointer, range, says, version }) => {
    return { rule: rule.id, party, n, pointer, range, says, version };
  });
  return { kind: row?.kind, unjudged: row?.unjudged, messages, verdicts };
}

function read(entries: Iterable<Entry>): Conversation {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return conversation;
}

test("a frame that is read alone is judged and paired as it is among all: every rule, in every revision", () => {
  let told = 0;
  const short = [latestHandshake.version, latest.version];
  for (const version of inForm({ long: versions, short })) {
    const talk = talkOf(version);
    const judged = cases.filter((each) => each.where?.(talk) ?? true);
    // The short form takes each case in one of the two revisions, and one of its transcripts, in turn.
    for (const [at, { rule, where, breaks, legal }] of judged.entries()) {
      if (!isLong && at % 2 !== short.indexOf(version)) continue;
      const [broken, kept] = [breaks(talk), legal(talk)];
      for (const transcript of isLong ? [broken, kept] : [at % 4 < 2 ? broken : kept]) {
        const ping = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
        const entries = stretched(entriesOf(transcript), ping);
        const file = Buffer.from(entries.map(encodeEntry).join(""));
        const whole = read(readRecording(file).entries);
        for (const row of whole.rows.slice(-2 * between - 2)) {
          const own = row.messages[0]?.id;
          if (row.n === undefined || (own !== undefined && Number(own) > 100_000)) continue;
          const lines = contextOfFrame(file, row.n);
          if (lines === undefined) continue;
          told += 1;
          const alone = read(
            new RecordingDecoder().push(lines).flatMap(({ entry }) => (entry === undefined ? [] : [entry])),
          );
          const found = alone.rows.find(({ n }) => n === row.n);
          expect(shown(found), `${rule} in ${version}, frame ${row.n}, ${where}`).toEqual(shown(row));
        }
      }
    }
  }
  expect(told).toBeGreaterThan(inForm({ long: 500, short: 75 }));
});

test("of a long recording few lines are read", () => {
  const pairs = Array.from({ length: 3_000 }, (_, at) => [
    stdioFrame(2 * at + 1, `→ {"jsonrpc":"2.0","id":${at},"method":"ping"}`),
    stdioFrame(2 * at + 2, `← {"jsonrpc":"2.0","id":${at},"result":{}}`),
  ]);
  const file = Buffer.from([header, ...pairs.flat()].map(encodeEntry).join(""));
  const lines = contextOfFrame(file, 4_000)?.toString().split("\n") ?? [];
  expect(lines.length).toBeGreaterThan(400);
  expect(lines.length).toBeLessThan(700);
});
