import { expect, test } from "vitest";
import { inForm } from "../testing/forms.js";
import { type Expected, expectedAnswers } from "./conversation/expected-answers.js";
import { PipedServer } from "./conversation/piped-server.js";
import { mutatedFrame } from "./mutated-frames.js";
import { createRandom, type Random, seed } from "./random.js";

const frameCount = inForm({ long: 100_000, short: 10_000 });
const framesAtOnce = 500;
const frameBytes = 4_096;
const megabyte = 1024 * 1024;

test(`${frameCount} mutated frames through a pipe: each is answered as it must be (PARLANCE_SEED=${seed})`, async () => {
  console.info(`mutated frames: PARLANCE_SEED=${seed}`);
  const random = createRandom(seed);
  const due = new Due();
  await using server = new PipedServer(frameBytes);

  // The first tenth warms the server up.
  const held: number[] = [];
  for (let sent = 0; sent < frameCount; sent += framesAtOnce) {
    if (sent === frameCount / 10) held.push(await heldBy(server, due, '"early"'));
    const frames = Array.from({ length: framesAtOnce }, (_, index) => nextFrame(random, sent + index, due));
    await server.write(Buffer.concat(frames));
  }
  held.push(await heldBy(server, due, '"late"'));

  expect(await server.end()).toEqual({ code: 0, signal: null, stderr: "" });
  expect(server.faults.slice(0, 5)).toEqual([]);
  expect(due.differences(server.answers).slice(0, 5)).toEqual([]);
  expect((held[1] ?? 0) - (held[0] ?? 0)).toBeLessThan(10 * megabyte);
});

/** All responses that the server owes. */
class Due {
  readonly #answers = new Map<string, number>();
  readonly #frames = new Map<string, string[]>();
  readonly #cancelled = new Set<string>();

  add({ ids, cancels }: Expected, frame: Uint8Array): void {
    for (const id of ids) {
      this.#answers.set(id, (this.#answers.get(id) ?? 0) + 1);
      if (id !== "null") this.#frames.set(id, [...(this.#frames.get(id) ?? []), Buffer.from(frame).toString()]);
    }
    for (const id of cancels) this.#cancelled.add(id);
  }

  /** Ids that were not answered as often as they should, with their frames. */
  differences(answers: ReadonlyMap<string, number>): readonly string[] {
    return [...new Set([...this.#answers.keys(), ...answers.keys()])].flatMap((id) => {
      const [wanted, got] = [this.#answers.get(id) ?? 0, answers.get(id) ?? 0];
      const isRight = this.#cancelled.has(id) ? got <= wanted : got === wanted;
      return isRight
        ? []
        : [`${id}: ${got} answers for ${wanted} in ${this.#frames.get(id)?.join(" and ") ?? "no frame"}`];
    });
  }
}

async function heldBy(server: PipedServer, due: Due, id: string): Promise<number> {
  due.add({ ids: [id], cancels: [] }, new Uint8Array());
  const { result } = JSON.parse(await server.ask(id, "held")) as { result: number };
  return result;
}

/** The next line with its newline: mostly a mutated frame, now and then one that is too long. */
function nextFrame(random: Random, number: number, due: Due): Uint8Array {
  if (random.chance(0.01)) {
    const { text, expected } = random.pick(oversized)(number);
    const line = Buffer.from(text);
    due.add(expected, line.subarray(0, 100));
    return Buffer.concat([line, newline]);
  }
  const frame = mutatedFrame(random, number);
  due.add(expectedAnswers(frame), frame);
  return Buffer.concat([frame, newline]);
}

const newline = Buffer.from("\n");
const padding = "x".repeat(frameBytes);
const answered = (id: string): Expected => ({ ids: [id], cancels: [] });

/** Of a line that is too long only the first 64 KiB are looked at for an id. */
const oversized: readonly ((number: number) => { readonly text: string; readonly expected: Expected })[] = [
  (number) => ({
    text: `{"jsonrpc":"2.0","id":"long ${number}","method":"echo","params":["${padding}"]}`,
    expected: answered(`"long ${number}"`),
  }),
  (number) => ({
    text: `{"jsonrpc":"2.0","method":"echo","params":["${padding}"],"id":${number}.75}`,
    expected: answered(`${number}.75`),
  }),
  (number) => ({
    text: `{"jsonrpc":"2.0","method":"echo","params":["${padding.repeat(17)}"],"id":${number}.25}`,
    expected: answered("null"),
  }),
  () => ({ text: `{"jsonrpc":"2.0","method":"echo","params":["${padding}"]}`, expected: answered("null") }),
  (number) => ({ text: `{"jsonrpc":"2.0","id":${number},"result":"${padding}"}`, expected: { ids: [], cancels: [] } }),
  (number) => ({ text: `[{"jsonrpc":"2.0","id":${number},"method":"${padding}"}]`, expected: answered("null") }),
  () => ({ text: padding.repeat(3), expected: answered("null") }),
];
