/**
 * `npm run mutations [-- A3 A4]` removes one defence of docs/design/security.md after the other, runs the test that guards it, and
 * expects that test to fail. The sources are restored after each, also on Ctrl-C.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * A defence, how it is removed, and the test that must fail without it.
 *
 * @typedef {object} Mutation
 * @property {string} item its number in docs/design/security.md, e.g. `A3`
 * @property {readonly string[]} [threats] the threats of the tests by their numbers, e.g. `S14`
 * @property {string} removes the defence, in words
 * @property {string} file the source, from the root of the repository
 * @property {string} find text that stands in the file exactly once
 * @property {string} replace what stands there without the defence
 * @property {string} test the test file, from the root
 * @property {string} title of the test that must fail: literal text of the test file
 */

export const root = new URL("../../", import.meta.url);
const folder = new URL("mutations/", import.meta.url);

/** All mutations, in the order of their files. @returns {readonly Mutation[]} */
export function mutationsOf() {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.sort().flatMap((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")));
}

/**
 * Outcome of a mutation. Only `noticed` is a success: the test passes with the defence and fails without it. A mutation is `stale` if its
 * text does not stand in the file exactly once, `unbuilt` if the source does not build without the defence, and `unproven` if the test
 * does not pass with the defence or does not come to a result.
 *
 * @typedef {"noticed" | "survived" | "stale" | "unbuilt" | "unproven"} Outcome
 */

/** Removes the defence of a mutation, runs its test, and restores the source. @param {Mutation} mutation @returns {Outcome} */
export function outcomeOf({ file, find, replace, test, title }) {
  const path = new URL(file, root);
  const text = readFileSync(path, "utf8");
  if (text.split(find).length !== 2) return "stale";
  if (!passes(test, title)) return "unproven";
  const restore = () => writeFileSync(path, text);
  process.once("exit", restore);
  try {
    writeFileSync(
      path,
      text.replace(find, () => replace),
    );
    // Tests that start processes run what was built; a mutation need not satisfy the type checker.
    if (!build()) return "unbuilt";
    const { failed, passed } = resultsOf(test, title);
    if (failed > 0) return "noticed";
    return passed > 0 ? "survived" : "unproven";
  } finally {
    restore();
    process.off("exit", restore);
    isBuilt = false;
  }
}

/** Tests that have passed with every defence in place, by file and title: several mutations share one. @type {Map<string, boolean>} */
const passing = new Map();

/** Whether the tests of a title pass with every defence in place. @param {string} test @param {string} title */
function passes(test, title) {
  const key = `${test} ${title}`;
  if (!passing.has(key)) {
    isBuilt ||= build();
    const { failed, passed } = resultsOf(test, title);
    passing.set(key, isBuilt && failed === 0 && passed > 0);
  }
  return passing.get(key) === true;
}

/** Whether `dist` holds what the sources say. */
let isBuilt = false;

/** Builds the bundles. @returns whether that succeeded */
function build() {
  return run("npx", ["rolldown", "--config"]) === 0;
}

/**
 * Runs the tests of a title, until one fails. A file that cannot be loaded, and a run that is stopped, count for neither: no assertion
 * of the test has failed.
 *
 * @param {string} test
 * @param {string} title
 */
function resultsOf(test, title) {
  const output = join(mkdtempSync(join(tmpdir(), "mutations-")), "results.json");
  try {
    const pattern = title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const reporter = ["--reporter", "json", "--outputFile", output];
    run("npx", ["vitest", "run", "--mode", "all", "--bail", "1", ...reporter, test, "-t", pattern]);
    const { numFailedTests, numPassedTests } = existsSync(output)
      ? JSON.parse(readFileSync(output, "utf8"))
      : { numFailedTests: 0, numPassedTests: 0 };
    return { failed: numFailedTests, passed: numPassedTests };
  } finally {
    rmSync(dirname(output), { recursive: true });
  }
}

/** Exit code of a command in the root, null for one that was stopped after five minutes. @param {string} command @param {readonly string[]} args */
function run(command, args) {
  return spawnSync(command, args, { cwd: fileURLToPath(root), stdio: "ignore", timeout: 300_000 }).status;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once("SIGINT", () => process.exit(130));
  const wanted = process.argv.slice(2);
  const chosen = mutationsOf().filter(({ item }) => wanted.length === 0 || wanted.includes(item));
  let noticed = 0;
  for (const mutation of chosen) {
    const outcome = outcomeOf(mutation);
    if (outcome === "noticed") noticed += 1;
    console.log(
      `${outcome === "noticed" ? "noticed " : outcome.toUpperCase().padEnd(8)}  ${mutation.item}  ${mutation.removes}`,
    );
  }
  console.log(`${noticed} of ${chosen.length} noticed`);
  build();
  process.exit(noticed === chosen.length && noticed > 0 ? 0 : 1);
}
