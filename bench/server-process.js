/**
 * The process of a contestant that is a server. It serves, says so, and tells what it has cost whenever it is asked: over
 * a channel of its own, so that the measuring is not in what is measured.
 */

/** @import { Cost, Served, ServerContestant } from "./types.d.ts" */

/**
 * @param {"process" | "heap"} memory
 * @returns {Cost}
 */
function cost(memory) {
  const { user, system } = process.cpuUsage();
  return { microseconds: user + system, bytes: memory === "heap" ? heldHeap() : process.memoryUsage.rss() };
}

/** The size of the heap after everything that can be freed is freed. */
function heldHeap() {
  // The second run frees the objects that the first one finalises.
  for (let run = 0; run < 2; run += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const [folder = "", contestantName = "", caseKind = ""] = process.argv.slice(2);
/** @type {{ contestant: ServerContestant }} */
const { contestant } = await import(`./servers/${folder}/${contestantName}.js`);
process.on("message", (memory) => process.send?.(cost(memory === "heap" ? "heap" : "process")));
process.on("disconnect", () => process.exit());
const kind = contestant.kinds.find((each) => each === caseKind);
/** @type {Served} */
const served =
  kind === undefined
    ? { package: contestant.package, serves: false }
    : {
        package: contestant.package,
        serves: true,
        revision: contestant.revision,
        port: await contestant.serve(kind),
      };
process.send?.(served);
