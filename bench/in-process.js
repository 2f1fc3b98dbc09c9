/**
 * The process of a contestant whose work is a call: text in, text out. It checks every answer, warms up, says so, and
 * then runs one round each time the runner asks. One process for one contestant on one case, so that none inherits
 * another's compiled code, shapes or heap.
 */

import { isDeepStrictEqual } from "node:util";
import { roundMicroseconds, takePart } from "./program.js";
import { clip } from "./samples.js";

/** @import { Case, Contestant, Door, Output } from "./types.d.ts" */

/** The sum of all lengths: a result that is used cannot be optimised away. */
let consumed = 0;

/**
 * Uses an answer. Reading one character makes the engine put the text together: V8 hands out long strings in pieces, and
 * an answer in pieces is not written yet.
 * @param {Output} output
 */
function consume(output) {
  consumed += output.length;
  if (typeof output === "string") consumed += output.charCodeAt(output.length - 1);
}

/**
 * Answers every frame once, one after the other. Only a promise is awaited.
 * @template Frame
 * @param {Door<Frame>} door
 * @param {readonly Frame[]} frames
 */
async function runInTurn(door, frames) {
  for (const frame of frames) {
    const output = door.answer(frame);
    consume(output instanceof Promise ? await output : output);
  }
}

/**
 * Answers every frame once, some of them at the same time.
 * @template Frame
 * @param {Door<Frame>} door
 * @param {readonly Frame[]} frames
 * @param {number} inFlight
 */
async function runTogether(door, frames, inFlight) {
  for (let from = 0; from < frames.length; from += inFlight) {
    const outputs = await Promise.all(frames.slice(from, from + inFlight).map((frame) => door.answer(frame)));
    for (const output of outputs) consume(output);
  }
}

/**
 * Passes over all frames until the round is long enough to be measured; microseconds of CPU per message.
 * @param {() => Promise<void>} pass
 * @param {number} messages in one pass
 */
async function runRound(pass, messages) {
  const before = process.cpuUsage();
  for (let passes = 1; ; passes += 1) {
    await pass();
    const { user, system } = process.cpuUsage(before);
    if (user + system >= roundMicroseconds) return (user + system) / (passes * messages);
  }
}

/**
 * The first fault of the answers, if there is one.
 * @template Frame
 * @param {Door<Frame>} door
 * @param {Case} work
 * @param {readonly Frame[]} frames
 */
async function findFault(door, work, frames) {
  for (const [index, frame] of frames.entries()) {
    const output = await door.answer(frame);
    const answer = JSON.parse(typeof output === "string" ? output : new TextDecoder().decode(output));
    const { text, answer: expected } = work.sample(index + 1);
    if (Array.isArray(answer)) answer.sort((a, b) => a.id - b.id);
    if (!isDeepStrictEqual(answer, expected)) return `wrong answer ${clip(JSON.stringify(answer))} to ${clip(text)}`;
  }
  return undefined;
}

await takePart(async ({ work, contestant: name }) => {
  /** @type {{ contestant: Contestant<unknown> }} */
  const { contestant } = await import(`./contestants/${name}.js`);
  if (!contestant.kinds.includes(work.kind)) return {};

  const door = await contestant.open(work.kind);
  const texts = Array.from({ length: work.pool }, (_, index) => work.sample(index + 1).text);
  const frames = texts.map((text) => door.prepare?.(text) ?? text);
  const fault = await findFault(door, work, frames);
  if (fault !== undefined) return { reason: fault };

  const { inFlight = 1 } = contestant;
  const pass = () => (inFlight === 1 ? runInTurn(door, frames) : runTogether(door, frames, inFlight));
  return {
    package: contestant.package,
    runRound: async () => ({ microseconds: await runRound(pass, frames.length) }),
  };
});
process.on("exit", () => {
  if (Number.isNaN(consumed)) process.exitCode = 1;
});
