/**
 * Publishes the packages of this folder to npm, each after those that it depends on. It stops before the first change if anything
 * is not ready; when a run is repeated, packages that npm already has in this version are left out.
 *
 *     node scripts/release.js --dry-run    # prints what is not ready, the commands, and what npm would publish
 *     node scripts/release.js              # in .github/workflows/release.yml, for a tag such as v0.1.0
 */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ name: string, version: string, private?: boolean, dependencies?: Record<string, string>, folder: string }} Package */

const isDryRun = process.argv.includes("--dry-run");
const packages = inOrder(readPackages());
const version = packages[0]?.version ?? "";
const problems = findProblems();

for (const problem of problems) console.log(`not ready: ${problem}`);
if (problems.length > 0 && !isDryRun) process.exit(1);

run(".ci/run", []);
for (const each of packages) {
  if (!isDryRun && isPublished(each)) console.log(`${each.name}@${each.version} is published`);
  else publish(each);
}
console.log(isDryRun ? "Nothing was published" : `Published ${version}`);

/** @returns {readonly Package[]} */
function readPackages() {
  return readdirSync("packages")
    .map((name) => join("packages", name))
    .filter((folder) => existsSync(join(folder, "package.json")))
    .map((folder) => ({ ...JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), folder }))
    .filter((each) => each.private !== true);
}

/**
 * Packages after those of their dependencies.
 *
 * @param {readonly Package[]} all
 */
function inOrder(all) {
  /** @type {Set<Package>} */
  const ordered = new Set();
  const add = (/** @type {Package} */ each) => {
    for (const name of Object.keys(each.dependencies ?? {})) {
      const dependency = all.find((other) => other.name === name);
      if (dependency !== undefined) add(dependency);
    }
    ordered.add(each);
  };
  for (const each of all) add(each);
  return [...ordered];
}

function findProblems() {
  const names = new Set(packages.map(({ name }) => name));
  const uneven = packages.flatMap((each) => {
    const own = each.version === version ? [] : [`${each.name} has version ${each.version}, not ${version}`];
    const needed = Object.entries(each.dependencies ?? {}).filter(([name]) => names.has(name));
    const others = needed.filter(([, wanted]) => wanted !== version);
    return [...own, ...others.map(([name, wanted]) => `${each.name} depends on ${name} ${wanted}, not ${version}`)];
  });
  const heading = new RegExp(`^## \\[${version.replaceAll(".", "\\.")}\\] - \\d{4}-\\d{2}-\\d{2}$`, "m");
  const hasSection = heading.test(readFileSync("CHANGELOG.md", "utf8"));
  const isClean = git("status", "--porcelain") === "";
  const isTagged = git("tag", "--points-at", "HEAD").split("\n").includes(`v${version}`);
  return [
    ...uneven,
    ...(hasSection ? [] : [`CHANGELOG.md has no heading "## [${version}] - <date>"`]),
    ...(isClean ? [] : ["the working tree has changes that are not committed"]),
    ...(isTagged ? [] : [`HEAD has no tag v${version}`]),
    // npm signs the provenance with the identity of the workflow, which only a CI service gives.
    ...(process.env.ACTIONS_ID_TOKEN_REQUEST_URL === undefined ? ["provenance needs the release workflow"] : []),
  ];
}

/** @param {string[]} args */
function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** @param {Package} each */
function isPublished({ name, version }) {
  const { stdout } = spawnSync("npm", ["view", `${name}@${version}`, "version"], { encoding: "utf8" });
  return stdout.trim() === version;
}

/** @param {Package} each */
function publish({ folder }) {
  const args = ["publish", "--provenance", "--access", "public"];
  // npm writes the contents of the package to stderr.
  if (isDryRun) execute("npm", [...args, "--dry-run"], folder);
  else run("npm", args, folder);
}

/**
 * Prints a command, and executes it unless this is a dry run.
 *
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, args, folder = ".") {
  if (isDryRun) console.log(`would run: ${[command, ...args].join(" ")}`);
  else execute(command, args, folder);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} folder
 */
function execute(command, args, folder) {
  console.log(`${folder}: ${[command, ...args].join(" ")}`);
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
