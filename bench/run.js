/**
 * `npm run bench -- a|b|c|h|p|w [--rounds 9] [--only ping,add] [--contestants jayson,mcp-lite] [--json]`
 *
 * Prints a table for people, or all figures as JSON. Exit code 0 when it could measure, whatever it found: a bar that is
 * missed is shown, and judged by a reader who knows how quiet the machine was.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { parseArgs } from "node:util";
import { measure } from "./measure.js";
import { cellsOf, print } from "./table.js";

/** @import { Suite } from "./types.d.ts" */

const here = new URL("./", import.meta.url);
const root = new URL("../", here);

/** Measures one suite and prints what came out. */
async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "9" },
      only: { type: "string" },
      contestants: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) refuse(`--rounds takes a count, got ${values.rounds}`);
  const [name = "a"] = positionals;
  if (name === "w") return runWire(rounds, values.json);
  if (name === "p") return runPage(rounds, values.json);
  if (name === "h") return runHostile(rounds, values.only?.split(","), values.json);
  if (!existsSync(new URL(`suites/${name}.js`, here))) refuse(`There is no suite ${name}`);

  prepare();
  /** @type {{ suite: Suite }} */
  const { suite } = await import(`./suites/${name}.js`);
  const caseNames = choose(
    "--only",
    suite.cases.map((each) => each.name),
    values.only,
  );
  const [floor = ""] = suite.contestants;
  const chosen = choose("--contestants", suite.contestants, values.contestants);
  const core = coreToPin();
  const entries = await measure(suite, {
    cases: suite.cases.filter((each) => caseNames.includes(each.name)),
    contestants: [floor, ...chosen.filter((each) => each !== floor)],
    rounds,
    core,
    onCase: (caseName) => console.error(`measuring ${caseName}`),
  });
  const cells = cellsOf(suite, entries, versions());
  const machine = { node: process.version, cpu: cpus()[0]?.model, cores: availableParallelism(), core };
  if (values.json) console.log(JSON.stringify({ suite: name, rounds, machine, cells, entries }, undefined, 2));
  else
    console.log(`\nSuite ${name}: ${suite.title}\nNode ${machine.node}, rounds: ${rounds}\n\n${print(suite, cells)}`);
}

/**
 * Suite W compares two ways to one server, and reads a long recording; no libraries: it needs none of them.
 * @param {number} rounds
 * @param {boolean} asJson
 */
async function runWire(rounds, asJson) {
  if (!existsSync(new URL("packages/cli/dist/parlance.js", root))) npm(["run", "build"], root);
  const { measureWire, printWire } = await import("./wire.js");
  const { measureScale, printScale } = await import("./scale.js");
  const measured = await measureWire(rounds);
  const scale = await measureScale();
  if (asJson) console.log(JSON.stringify({ ...measured, scale }));
  else
    console.log(
      `\nSuite w: one server, directly and behind the tap\nNode ${process.version}, rounds: ${rounds}\n\n${printWire(measured)}\n\nA long recording\n\n${printScale(scale)}`,
    );
}

/**
 * Suite P measures the page in the browser of the system.
 * @param {number} rounds
 * @param {boolean} asJson
 */
async function runPage(rounds, asJson) {
  if (!existsSync(new URL("packages/cli/dist/page/page.js", root))) npm(["run", "build"], root);
  const { measurePage, printPage } = await import("./page.js");
  const measured = await measurePage(rounds);
  if (asJson) console.log(JSON.stringify(measured));
  else
    console.log(
      `\nSuite p: the page, and 100,000 frames\nNode ${process.version}, rounds: ${rounds}\n\n${printPage(measured)}`,
    );
}

/**
 * Suite H attacks a server of this library: what is compared is a client beside the attack with the same client alone.
 * @param {number} rounds
 * @param {readonly string[] | undefined} only numbers or names of attacks
 * @param {boolean} asJson
 */
async function runHostile(rounds, only, asJson) {
  if (!existsSync(new URL("packages/mcp/dist/node.js", root))) npm(["run", "build"], root);
  const { measureHostile, printHostile } = await import("./hostile.js");
  const rows = await measureHostile(rounds, only);
  if (asJson) console.log(JSON.stringify(rows));
  else
    console.log(
      `\nSuite h: a client beside attacks\nNode ${process.version}, rounds: ${rounds}\n\n${printHostile(rows)}`,
    );
}

/** The peers have a lockfile of their own, so that the project's `npm ci` does not pay for them. */
function prepare() {
  if (!existsSync(new URL("node_modules", here))) npm(["ci", "--ignore-scripts"], here);
  if (!existsSync(new URL("packages/mcp/dist/jsonrpc.js", root))) npm(["run", "build"], root);
}

/**
 * @param {readonly string[]} args
 * @param {URL} folder
 */
function npm(args, folder) {
  // On standard error: standard output is the result alone. A failure is not the end: what is missing is named in the table.
  spawnSync("npm", args, { cwd: folder, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
}

/**
 * @param {string} option
 * @param {readonly string[]} known
 * @param {string | undefined} list comma-separated; everything when it is absent
 */
function choose(option, known, list) {
  if (list === undefined) return known;
  const names = list.split(",");
  const stranger = names.find((each) => !known.includes(each));
  if (stranger !== undefined) refuse(`${option}: ${stranger} is none of ${known.join(", ")}`);
  return known.filter((each) => names.includes(each));
}

/**
 * Ends a run that was asked for something that does not exist.
 * @param {string} message
 * @returns {never}
 */
function refuse(message) {
  console.error(message);
  process.exit(2);
}

/** The last core, where there are several and `taskset` can pin to it. */
function coreToPin() {
  const core = availableParallelism() - 1;
  return core > 0 && spawnSync("taskset", ["-c", String(core), "true"]).status === 0 ? core : undefined;
}

/**
 * The version of each peer: pinned exactly in bench/package.json.
 * @returns {Readonly<Record<string, string>>}
 */
function versions() {
  return JSON.parse(readFileSync(new URL("package.json", here), "utf8")).dependencies;
}

await main();
