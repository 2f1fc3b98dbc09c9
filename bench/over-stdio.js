/**
 * Asks a contestant on stdio. The frames are bytes before the clock starts; as many of them as the case says are on their
 * way at any time; and an answer is no more to this process than the end of a line, so that the server is never waiting.
 */

import { once } from "node:events";
import { initialize, initialized, newestHandshake } from "./mcp.js";
import { takePart } from "./program.js";
import { faultIn } from "./samples.js";
import { roundsOf, startServer } from "./server-host.js";

/** @import { Readable, Writable } from "node:stream" */
/** @import { Case } from "./types.d.ts" */

const newline = 10;

/** The frames of a case, over and over, through one pipe. */
class Pipe {
  /** @type {Writable} */
  #input;
  /** @type {Buffer[]} */
  #frames;
  #inFlight;
  #next = 0;
  #unsent = 0;
  #unanswered = 0;
  /** @type {() => void} */
  #done = () => undefined;

  /**
   * @param {{ input: Writable, output: Readable }} server
   * @param {Buffer[]} frames
   * @param {number} inFlight
   */
  constructor({ input, output }, frames, inFlight) {
    this.#input = input;
    this.#frames = frames;
    this.#inFlight = inFlight;
    output.on("data", (/** @type {Buffer} */ chunk) => this.#answered(countOf(newline, chunk)));
  }

  /**
   * Sends that many messages; resolves when all of them are answered.
   * @param {number} count
   * @returns {Promise<void>}
   */
  run(count) {
    this.#unsent = count;
    this.#unanswered = count;
    const done = new Promise((resolve) => {
      this.#done = () => resolve(undefined);
    });
    this.#send(this.#inFlight);
    return done;
  }

  /** @param {number} count */
  #answered(count) {
    this.#unanswered -= count;
    if (this.#unanswered === 0) this.#done();
    else this.#send(count);
  }

  /** @param {number} most */
  #send(most) {
    const count = Math.min(most, this.#unsent);
    if (count === 0) return;
    this.#unsent -= count;
    const frames = [];
    for (let index = 0; index < count; index += 1) {
      frames.push(/** @type {Buffer} */ (this.#frames[this.#next]));
      this.#next = (this.#next + 1) % this.#frames.length;
    }
    this.#input.write(frames.length === 1 ? frames[0] : Buffer.concat(frames));
  }
}

/**
 * @param {number} byte
 * @param {Buffer} chunk
 */
function countOf(byte, chunk) {
  let count = 0;
  for (let at = chunk.indexOf(byte); at !== -1; at = chunk.indexOf(byte, at + 1)) count += 1;
  return count;
}

/**
 * One message and its answer, before the clock starts.
 * @param {{ input: Writable, output: Readable }} server
 * @param {string} text
 */
async function ask({ input, output }, text) {
  input.write(`${text}\n`);
  let answer = "";
  while (!answer.endsWith("\n")) answer += (await once(output, "data"))[0];
  return answer;
}

/**
 * The first fault of the answers, if there is one.
 * @param {{ input: Writable, output: Readable }} server
 * @param {Case} work
 */
async function findFault(server, work) {
  for (let id = 1; id <= work.pool; id += 1) {
    const sample = work.sample(id);
    const fault = faultIn(await ask(server, sample.text), sample);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

await takePart(async ({ work, contestant, core }) => {
  const host = await startServer("stdio", contestant, work.kind, core);
  if (!host.served.serves) return {};
  const server = host.pipes;
  if (work.kind === "call") {
    await ask(server, JSON.stringify(initialize(newestHandshake)));
    server.input.write(`${JSON.stringify(initialized)}\n`);
  }
  const fault = await findFault(server, work);
  if (fault !== undefined) return { reason: fault };

  const frames = Array.from({ length: work.pool }, (_, index) => Buffer.from(`${work.sample(index + 1).text}\n`));
  const pipe = new Pipe(server, frames, work.inFlight ?? 1);
  return { package: host.served.package, runRound: roundsOf(host, { run: (count) => pipe.run(count) }) };
});
