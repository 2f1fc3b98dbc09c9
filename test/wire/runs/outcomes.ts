import { Conversation, type Entry } from "@parlance/wire";
import { expect } from "vitest";
import type { ByteRange } from "../../../packages/wire/src/json/json-node.js";
import type { Frame } from "../../../packages/wire/src/recording/frame.js";
import type { ExpectedVerdict, Outcome } from "../../fixtures/misbehaving/expected.js";

/** Fails unless a recording is judged as it has to be: these verdicts and no others, and these words for the call. */
export function expectOutcome(entries: readonly Entry[], { verdicts, waiting, never }: Outcome): void {
  const { conversation, frames } = read(entries);
  expect(conversation.verdicts.map((verdict) => ({ ...verdict, rule: verdict.rule.id }))).toEqual(
    verdicts.map((verdict) => expect.objectContaining(placed(verdict, frames)) as unknown),
  );
  expect(reasons(conversation)).toEqual(never === undefined ? [] : [expect.stringMatching(never)]);
  const fate = entries.findIndex((entry) => isFate(entry, callExchange(entries)));
  const { conversation: before } = read(entries.slice(0, fate));
  expect(reasons(before)).toEqual(waiting === undefined ? [] : [expect.stringMatching(waiting)]);
}

function read(entries: readonly Entry[]): { readonly conversation: Conversation; readonly frames: readonly Frame[] } {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  return { conversation, frames: conversation.rows.flatMap(({ frame }) => frame ?? []) };
}

function reasons(conversation: Conversation): readonly string[] {
  return conversation.pending().map(({ reason }) => reason);
}

/** The exchange of HTTP that carries the call. */
function callExchange(entries: readonly Entry[]): number | undefined {
  const frames = entries.filter((entry) => entry.k === "f");
  return frames.find(({ raw }) => raw?.includes('"tools/call"'))?.req;
}

/** Whether it tells that nothing more will come to the call, or that nobody waits for it. */
function isFate(entry: Entry, exchange: number | undefined): boolean {
  if (entry.k === "f") return entry.d === "c2s" && entry.raw?.includes('"notifications/cancelled"') === true;
  if (entry.k === "h") return entry.x === exchange && (entry.ph === "end" || entry.ph === "abort");
  return entry.k === "l" && (entry.ev === "stdin-end" || entry.ev === "exit" || entry.ev === "close");
}

/** A verdict with the frame and the bytes where its text stands. */
function placed(
  { covers, frame: within, pointer, ...verdict }: ExpectedVerdict,
  frames: readonly Frame[],
): Omit<ExpectedVerdict, "covers" | "frame" | "pointer"> & {
  readonly pointer: string | undefined;
  readonly n: number | undefined;
  readonly range: ByteRange;
} {
  const text = Buffer.from(covers, "latin1");
  const holds = ({ bytes }: Frame): boolean =>
    within === undefined ? text.equals(bytes) : Buffer.from(bytes).includes(within, 0, "latin1");
  const [frame, ...others] = frames.filter(({ from }) => from === verdict.party).filter(holds);
  expect(others, `frames that hold ${within ?? covers}`).toEqual([]);
  const bytes = Buffer.from(frame?.bytes ?? []);
  const start = bytes.indexOf(text);
  expect(bytes.indexOf(text, start + 1), `a second ${covers} in its frame`).toBe(-1);
  return { ...verdict, pointer, n: frame?.n, range: [start, start + text.length] };
}
