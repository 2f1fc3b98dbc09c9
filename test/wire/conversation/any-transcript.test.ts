import { versions } from "@parlance/mcp";
import { bytesOf, Conversation, describeVerdict, type Entry, type FrameEntry, scanJson } from "@parlance/wire";
import { expect, test } from "vitest";
import type { JsonNode } from "../../../packages/wire/src/json/json-node.js";
import { createRandom, type Random, seed } from "../../properties/random.js";
import { inForm } from "../../testing/forms.js";
import { cases } from "../rules/cases/all-cases.js";
import { entriesOf } from "../rules/rule-case.js";
import { talkOf } from "../rules/talk.js";

const transcriptCount = inForm({ long: 6_000, short: 500 });

/** Values in the place of others. */
const strange = [
  ..."null|true|0|-1|1.5|1e999|12345678901234567890|[]|{}|[[]]|[null]".split("|"),
  ...['""', '"\\ud800"', '"__proto__"', '{"__proto__":1}', '{"constructor":null}', '"\\u001b[2J"'],
  ...['{"_meta":null}', '{"type":"object"}', '[{"name":1}]', '"notifications/progress"', '"input_required"'],
];

const parts = cases.flatMap(({ where, breaks, legal }) =>
  versions
    .map(talkOf)
    .filter((talk) => where?.(talk) ?? true)
    .flatMap((talk) => [entriesOf(breaks(talk)), entriesOf(legal(talk))]),
);

test(`any transcript is judged without a fault, and every verdict has its place (PARLANCE_SEED=${seed})`, {
  timeout: 60_000,
}, () => {
  const random = createRandom(seed);
  for (let count = 0; count < transcriptCount; count += 1) {
    const entries = mutated(random.pick(parts).filter(isShort), random);
    const conversation = new Conversation();
    for (const entry of entries) conversation.push(entry);
    conversation.finish();
    for (const verdict of conversation.verdicts) {
      const row = conversation.rows.find(({ n }) => n === verdict.n);
      expect(row?.verdicts).toContain(verdict);
      const [start, end] = verdict.range ?? [0, 0];
      expect(start).toBeLessThanOrEqual(end);
      expect(end).toBeLessThanOrEqual(row?.frame?.bytes.length ?? 0);
      expect(describeVerdict(verdict)).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(verdict.spec).toMatch(/^https:/);
    }
    for (const { reason } of conversation.pending()) expect(reason).not.toMatch(/\p{Cc}/u);
  }
});

function isShort(entry: Entry): boolean {
  return entry.k !== "f" || entry.len < 100_000;
}

/** The entries with some of them lost, sent twice, in another order, or with something else in them. */
function mutated(entries: readonly Entry[], random: Random): readonly Entry[] {
  const changed = [...entries];
  for (let changes = 1 + random.below(3); changes > 0 && changed.length > 0; changes -= 1) {
    const at = random.below(changed.length);
    const [entry] = changed.splice(at, 1);
    if (entry === undefined || random.chance(0.1)) continue;
    if (entry.k === "f" && random.chance(0.7)) changed.splice(at, 0, mutatedFrame(entry, random));
    else if (random.chance(0.5)) changed.splice(at, 0, entry, entry);
    else changed.splice(random.below(changed.length + 1), 0, entry);
  }
  return changed.map((entry, index) => ("n" in entry && entry.k !== "a" ? { ...entry, n: index + 1 } : entry));
}

function mutatedFrame(entry: FrameEntry, random: Random): FrameEntry {
  const bytes = Buffer.from(bytesOf(entry));
  const scan = scanJson(bytes);
  const [start, end] =
    scan.ok && random.chance(0.8) ? placeIn(scan.root, random) : [random.below(bytes.length), bytes.length];
  const put = random.chance(0.9) ? random.pick(strange) : String.fromCharCode(random.below(256));
  const whole = Buffer.concat([bytes.subarray(0, start), Buffer.from(put, "latin1"), bytes.subarray(end)]);
  const { raw, b64, ...rest } = entry;
  return { ...rest, len: whole.length, b64: whole.toString("base64") };
}

/** Where one of the values of a text stands. */
function placeIn(root: JsonNode, random: Random): readonly [start: number, end: number] {
  let node = root;
  while (random.chance(0.85)) {
    const children: readonly JsonNode[] =
      node.kind === "object" ? node.members.map(({ value }) => value) : node.kind === "array" ? node.elements : [];
    if (children.length === 0) break;
    node = random.pick(children);
  }
  return [node.start, node.end];
}
