import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** @import { ChildProcess } from "node:child_process" */
/** @import { Case, Entry, Report, Round, Suite } from "./types.d.ts" */

/**
 * Measures a suite, case by case: all contestants of a case wait in processes of their own, and the rounds go round
 * (A B C A B C …), so that a slow spell of the machine falls on everyone.
 *
 * @param {Suite} suite
 * @param {object} options
 * @param {readonly Case[]} options.cases
 * @param {readonly string[]} options.contestants
 * @param {number} options.rounds
 * @param {number | undefined} options.core that every contestant runs on, where the machine can pin
 * @param {(caseName: string) => void} options.onCase
 * @returns {Promise<Entry[]>}
 */
export async function measure(suite, { cases, contestants, rounds, core, onCase }) {
  /** @type {Entry[]} */
  const entries = [];
  for (const work of cases) {
    onCase(work.name);
    /** @type {Stand[]} */
    const stands = [];
    try {
      for (const contestant of contestants) stands.push(await openStand(suite, contestant, work.name, core));
      for (let round = 0; round < rounds; round += 1) {
        for (const stand of stands) await stand.runRound();
      }
    } finally {
      for (const stand of stands) stand.close();
    }
    for (const stand of stands) entries.push(stand.entry);
  }
  return entries;
}

/**
 * One contestant at one case, in its process.
 * @typedef {object} Stand
 * @property {Entry} entry
 * @property {() => Promise<void>} runRound
 * @property {() => void} close
 */

/**
 * @param {Suite} suite
 * @param {string} contestant
 * @param {string} caseName
 * @param {number | undefined} core
 * @returns {Promise<Stand>}
 */
async function openStand(suite, contestant, caseName, core) {
  const child = forkOn(suite.serves ? loadCore(core) : core, suite.program, [
    suite.name,
    contestant,
    caseName,
    suite.serves && core !== undefined ? String(core) : "",
  ]);
  const opening = await nextReport(child);
  /** @type {Round[]} */
  const rounds = [];
  const entry = { case: caseName, contestant, rounds };
  const close = () => void child.kill();
  if (opening.kind === "skipped") {
    return { entry: { ...entry, fault: opening.reason }, runRound: async () => undefined, close };
  }
  return {
    entry: opening.kind === "ready" ? { ...entry, package: opening.package } : entry,
    async runRound() {
      child.send("run");
      const report = await nextReport(child);
      if (report.kind !== "round") throw new Error(`${contestant} failed at ${caseName}: ${JSON.stringify(report)}`);
      rounds.push(report);
    },
    close,
  };
}

/**
 * Where the load for a server on that core comes from.
 * @param {number | undefined} core
 */
const loadCore = (core) => (core === undefined ? undefined : 0);

/**
 * @param {number | undefined} core
 * @param {string} program
 * @param {readonly string[]} args
 */
function forkOn(core, program, args) {
  const file = fileURLToPath(new URL(program, import.meta.url));
  if (core === undefined) return fork(file, args);
  return fork(file, args, { execPath: "taskset", execArgv: ["-c", String(core), process.execPath] });
}

/**
 * The next message of the child. A child that dies without one counts as unable to run the case.
 * @param {ChildProcess} child
 * @returns {Promise<Report>}
 */
function nextReport(child) {
  return new Promise((resolve) => {
    /** @param {number | null} code */
    const onExit = (code) => {
      child.off("message", onMessage);
      resolve({ kind: "skipped", reason: `its process ended with code ${code}` });
    };
    /** @param {unknown} message */
    const onMessage = (message) => {
      child.off("exit", onExit);
      resolve(/** @type {Report} */ (message)); // Our own child: it says nothing else.
    };
    child.once("message", onMessage);
    child.once("exit", onExit);
  });
}
