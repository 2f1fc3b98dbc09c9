import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { turn } from "../../testing/talks.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes that are in use when nothing is under way. */
export async function heap(): Promise<number> {
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await turn();
    collect();
  }
  return process.memoryUsage().heapUsed;
}
