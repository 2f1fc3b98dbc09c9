/**
 * The process of a contestant that is a server. It serves, says so, and tells what it has cost whenever it is asked: over
 * a channel of its own, so that the measuring is not in what is measured.
 */

/** @import { Cost, Served, ServerContestant } from "./types.d.ts" */

/** @returns {Cost} */
function cost() {
  const { user, system } = process.cpuUsage();
  return { microseconds: user + system, bytes: process.memoryUsage.rss() };
}

const [folder = "", contestantName = "", caseKind = ""] = process.argv.slice(2);
/** @type {{ contestant: ServerContestant }} */
const { contestant } = await import(`./servers/${folder}/${contestantName}.js`);
process.on("message", () => process.send?.(cost()));
process.on("disconnect", () => process.exit());
const kind = contestant.kinds.find((each) => each === caseKind);
/** @type {Served} */
const served =
  kind === undefined
    ? { package: contestant.package, serves: false }
    : { package: contestant.package, serves: true, port: await contestant.serve(kind) };
process.send?.(served);
