import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "./suite.js";

/** @import { Scenario } from "./requirements.js" */
/** @import { Outcome } from "./verdict.js" */

/** @typedef {{ id: string, name: string, status: string, description: string, errorMessage?: string }} Check */

/**
 * Runs all scenarios of a set that look at a server, one after the other.
 *
 * @param {readonly Scenario[]} scenarios those that are asked for
 * @param {string} revision
 * @param {string} url of the server
 * @param {string} results an empty folder
 * @returns {Promise<readonly Outcome[]>}
 */
export async function runServerSet(scenarios, revision, url, results) {
  const { text } = await suite(["server", "--url", url, "--requirements", revision, "--output-dir", results]);
  const files = await filesIn(results);
  return Promise.all(
    scenarios.map(async (scenario) => {
      const checksOfScenario = new RegExp(String.raw`^server-${scenario.name}-\d{4}-\d\d-\d\dT[^/]*/checks\.json$`);
      const checks = await readChecks(
        results,
        files.find((file) => checksOfScenario.test(file)),
      );
      return outcomeOf(scenario, checks, true, text);
    }),
  );
}

/**
 * Runs a scenario that looks at a client. By itself, so that it counts how the client ends.
 *
 * @param {Scenario} scenario
 * @param {string} results an empty folder
 * @param {string} [command] starts the client, from the folder of the suite; the URL of a server follows
 * @returns {Promise<Outcome>}
 */
export async function runClientScenario(scenario, results, command = "node client.js") {
  const which = ["--scenario", scenario.name, "--spec-version", scenario.revision, "--force"];
  const { code, text } = await suite(["client", "--command", command, ...which, "--output-dir", results]);
  const files = await filesIn(results);
  const checks = await readChecks(
    results,
    files.find((file) => file.endsWith("checks.json")),
  );
  const said = files.find((file) => file.endsWith("stderr.txt"));
  return outcomeOf(
    scenario,
    checks,
    code === 0,
    said === undefined ? text : await readFile(join(results, said), "utf8"),
  );
}

/**
 * @param {Scenario} scenario
 * @param {readonly Check[]} checks
 * @param {boolean} isFine what the suite says of everything but the checks
 * @param {string} said what tells why it is not
 * @returns {Outcome}
 */
function outcomeOf(scenario, checks, isFine, said) {
  const faults = messages(checks, "FAILURE");
  const warnings = messages(checks, "WARNING");
  // Where everything is skipped, nothing has passed.
  const passed = isFine && faults.length === 0 && checks.some(({ status }) => status === "SUCCESS");
  if (!passed && faults.length + warnings.length === 0) {
    const skipped = isFine ? messages(checks, "SKIPPED") : [];
    faults.push(...(skipped.length > 0 ? skipped : [said]));
  }
  return { scenario, passed, faults, warnings };
}

/**
 * None if the suite has failed before its first scenario: then all there is to show is what it has said.
 *
 * @param {string} folder
 * @returns {Promise<readonly string[]>}
 */
function filesIn(folder) {
  return readdir(folder, { recursive: true }).catch(() => []);
}

/**
 * @param {string} results
 * @param {string | undefined} file none if the scenario has come to no end
 * @returns {Promise<readonly Check[]>}
 */
async function readChecks(results, file) {
  return file === undefined ? [] : JSON.parse(await readFile(join(results, file), "utf8"));
}

/**
 * @param {readonly Check[]} checks
 * @param {string} status
 */
function messages(checks, status) {
  return checks
    .filter((check) => check.status === status)
    .map(({ id, name, description, errorMessage = description }) => `${id} (${name}): ${errorMessage}`);
}
