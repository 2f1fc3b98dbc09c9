/**
 * `npm run mutations [-- A3 A4]` removes one defence of docs/design/security.md after the other, runs the test that guards it, and
 * expects that test to fail. The sources are restored after each, also on Ctrl-C.
 */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * A defence, how it is removed, and the test that must fail without it.
 *
 * @typedef {object} Mutation
 * @property {string} item its number in docs/design/security.md, e.g. `A3`
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

/** Whether the test of a mutation fails once the defence is gone; a test that does not end has noticed nothing. @param {Mutation} mutation */
function isNoticed({ file, find, replace, test, title }) {
  const path = new URL(file, root);
  const text = readFileSync(path, "utf8");
  const restore = () => writeFileSync(path, text);
  process.once("exit", restore);
  try {
    writeFileSync(
      path,
      text.replace(find, () => replace),
    );
    // Tests that start processes run what was built; a mutation need not satisfy the type checker.
    run("npx", ["rolldown", "--config"]);
    return (
      run("npx", [
        "vitest",
        "run",
        "--mode",
        "all",
        "--bail",
        "1",
        test,
        "-t",
        title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
      ]) === 1
    );
  } finally {
    restore();
    process.off("exit", restore);
  }
}

/** Exit code of a command in the root, null for one that was stopped after five minutes. @param {string} command @param {readonly string[]} args */
function run(command, args) {
  return spawnSync(command, args, { cwd: fileURLToPath(root), stdio: "ignore", timeout: 300_000 }).status;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once("SIGINT", () => process.exit(130));
  const wanted = process.argv.slice(2);
  const unnoticed = [];
  for (const mutation of mutationsOf()) {
    if (wanted.length > 0 && !wanted.includes(mutation.item)) continue;
    const noticed = isNoticed(mutation);
    if (!noticed) unnoticed.push(mutation);
    console.log(`${noticed ? "noticed " : "SURVIVED"}  ${mutation.item}  ${mutation.removes}`);
  }
  run("npx", ["rolldown", "--config"]);
  process.exit(unnoticed.length === 0 ? 0 : 1);
}
