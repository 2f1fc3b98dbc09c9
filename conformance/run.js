// Runs the official conformance suite against the server and the client beside this file, for both frozen sets. Arguments
// narrow it down to the scenarios whose keys contain one of them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { report } from "./runner/report.js";
import { keyOf, parseRequirements } from "./runner/requirements.js";
import { runClientScenario, runServerSet } from "./runner/scenarios.js";
import { install, suite } from "./runner/suite.js";
import { judge, reasonOf } from "./runner/verdict.js";

/** @import { Scenario } from "./runner/requirements.js" */
/** @import { Baseline, Outcome } from "./runner/verdict.js" */

const revisions = ["2025-11-25", "2026-07-28"];
const [wanted, folder] = [process.argv.slice(2), import.meta.dirname];

await install();
/** @type {Baseline} */
const baseline = JSON.parse(await readFile(join(folder, "baseline.json"), "utf8"));
/** Sign-in at servers of the first revision with authorization, which is in no set. */
const older = ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"].map(
  (name) => /** @type {const} */ ({ revision: "2025-03-26", role: "client", name, unscored: "in no set" }),
);
const all = [...(await Promise.all(revisions.map(listed))).flat(), ...older];
const chosen = all.filter((scenario) => wanted.length === 0 || wanted.some((part) => keyOf(scenario).includes(part)));

const server = spawn(process.execPath, [join(folder, "server.js")], { stdio: ["ignore", "pipe", "inherit"] });
const results = await mkdtemp(join(tmpdir(), "parlance-conformance-"));
try {
  const ended = once(server, "exit").then(serverEnded);
  const url = await Promise.race([firstLine(server.stdout), ended]);
  const outcomes = await Promise.race([runAll(url), ended]);
  const verdict = judge(outcomes, baseline, all);
  console.log(report(outcomes, baseline, verdict).join("\n"));
  if (Object.values(verdict).some((list) => list.length > 0)) process.exitCode = 1;
} finally {
  server.kill();
  await rm(results, { recursive: true });
}

/** @param {string} revision */
async function listed(revision) {
  const { text } = await suite(["list", "--requirements", revision]);
  return parseRequirements(revision, text);
}

/** @param {import("node:stream").Readable} output */
async function firstLine(output) {
  for await (const line of createInterface({ input: output })) return line;
  return serverEnded();
}

/** @returns {never} */
function serverEnded() {
  throw new Error("The server of conformance/server.js has ended before its time");
}

/**
 * Several at a time: most of them wait for something. A mark for each scenario as it ends: `.` passed, `x` failed as
 * expected, `!` failed.
 *
 * @param {string} url
 */
async function runAll(url) {
  /** @type {Map<Scenario, Outcome>} */
  const outcomes = new Map();
  const jobs = jobsOf(url).entries();
  const worker = async () => {
    for (const [index, job] of jobs) {
      for (const outcome of await job(join(results, String(index)))) {
        outcomes.set(outcome.scenario, outcome);
        process.stdout.write(outcome.passed ? "." : reasonOf(baseline, outcome.scenario) === undefined ? "!" : "x");
      }
    }
  };
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, worker));
  process.stdout.write("\n");
  return chosen.flatMap((scenario) => outcomes.get(scenario) ?? []);
}

/**
 * @param {string} url
 * @returns {readonly ((results: string) => Promise<readonly Outcome[]>)[]}
 */
function jobsOf(url) {
  const onClients = chosen.filter(({ role }) => role === "client");
  return [
    ...revisions.flatMap((revision) => {
      const onServer = chosen.filter((scenario) => scenario.role === "server" && scenario.revision === revision);
      return onServer.length === 0 ? [] : [(/** @type {string} */ to) => runServerSet(onServer, revision, url, to)];
    }),
    ...onClients.map((scenario) => async (/** @type {string} */ to) => [await runClientScenario(scenario, to)]),
  ];
}
