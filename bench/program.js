/** The part that all programs of suites share: the conversation with the runner. */

/** @import { Case, Report, Round, Suite } from "./types.d.ts" */

/** CPU time that a round lasts at least. */
export const roundMicroseconds = 200_000;
const warmUpRounds = 4;

/**
 * The state of a program: it can run rounds, or it cannot and says why, or the case is none of the contestant's.
 * @typedef {{ package?: string | undefined, runRound: () => Promise<Round> } | { reason?: string }} Opened
 */

/**
 * Opens a contestant at a case, warms up, says so, and runs one round each time the runner asks.
 * @param {(task: { work: Case, contestant: string, core: string }) => Promise<Opened>} open
 */
export async function takePart(open) {
  const [suiteName = "", contestant = "", caseName = "", core = ""] = process.argv.slice(2);
  process.on("disconnect", () => process.exit());
  try {
    /** @type {{ suite: Suite }} */
    const { suite } = await import(`./suites/${suiteName}.js`);
    const work = suite.cases.find((each) => each.name === caseName);
    if (work === undefined) throw new TypeError(`Suite ${suiteName} has no case ${caseName}`);
    const opened = await open({ work, contestant, core });
    if (!("runRound" in opened)) return tell({ kind: "skipped", ...opened });
    for (let round = 0; round < warmUpRounds; round += 1) await opened.runRound();
    process.on("message", async () => tell({ kind: "round", ...(await opened.runRound()) }));
    tell({ kind: "ready", package: opened.package });
  } catch (error) {
    tell({ kind: "skipped", reason: error instanceof Error ? error.message : String(error) });
  }
}

/** @param {Report} report */
function tell(report) {
  process.send?.(report);
}
