/**
 * Prints, for every entry of each published package and for three commands: the modules that loading it takes, the CPU time that it takes over
 * a bare Node, and the bytes of the modules, as they are and gzipped.
 *
 *     npm run build && npm run size                # 11 runs each
 *     npm run size -- 31                           # more, on a busy machine
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = new URL("../", import.meta.url);
const self = fileURLToPath(import.meta.url);

if (process.env.SIZE_REPORT === undefined) print(Number(process.argv[2] ?? 11));
else observe();

/** In the measured process, imported before the rest: writes at the end what was loaded and what it cost. */
function observe() {
  /** @type {string[]} */
  const files = [];
  const countsModules = process.env.SIZE_REPORT === "modules";
  if (countsModules) {
    const session = new Session();
    session.connect();
    session.on("Debugger.scriptParsed", ({ params: { url } }) => {
      if (url.startsWith("file:") && !url.includes("[eval")) files.push(fileURLToPath(url));
      else if (url.startsWith("/") && !url.includes("[eval")) files.push(url); // CommonJS.
    });
    session.post("Debugger.enable");
  }
  process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    const report = countsModules ? files.filter((file) => file !== self) : (user + system) / 1000;
    process.stderr.write(`\n${JSON.stringify(report)}\n`);
  });
}

/** @param {readonly string[]} args @param {string} kind */
function run(args, kind) {
  const recordings = mkdtempSync(join(tmpdir(), "parlance-size-")); // A tap must not record into the folder of the user.
  const options = {
    cwd: fileURLToPath(root),
    env: { ...process.env, SIZE_REPORT: kind, PARLANCE_RECORDINGS: recordings },
    encoding: /** @type {const} */ ("utf8"),
  };
  const { stderr } = spawnSync(process.execPath, ["--import", self, ...args], options);
  rmSync(recordings, { recursive: true, force: true });
  return JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
}

/** The entries that the packages publish, and what the command is measured by, each with the arguments of Node. */
function cases() {
  const libraries = readdirSync(new URL("packages/", root), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const entries = libraries.flatMap(({ name }) => {
    const manifest = JSON.parse(readFileSync(new URL(`packages/${name}/package.json`, root), "utf8"));
    if (manifest.private) return [];
    const { name: library, exports } = manifest;
    const paths = Object.keys(exports).filter((path) => !path.endsWith(".json"));
    return paths.map((path) => [`${library}${path.slice(1)}`]);
  });
  const command = "packages/cli/dist/parlance.js";
  return [
    ...[...entries, ["@parlance/mcp/server", "@parlance/mcp/node"]].map((names) => ({
      name: names.map((name) => `\`${name}\``).join(" and "),
      args: ["--input-type=module", "--eval", names.map((name) => `import ${JSON.stringify(name)};`).join("")],
    })),
    { name: "`parlance --version`", args: [command, "--version"] },
    { name: "`parlance tap`", args: [command, "tap", "--", process.execPath, "--eval", "0"] },
    {
      name: "`parlance call`",
      args: [command, "call", `${process.execPath} test/fixtures/tools-server.js`, "add", "a=1", "b=2"],
    },
  ];
}

/** @param {number} runs */
function print(runs) {
  const measured = cases().map((each) => ({ ...each, over: /** @type {number[]} */ ([]) }));
  const bare = /** @type {number[]} */ ([]);
  // Each in turn with a bare Node, so that the load of the machine weighs on both.
  for (let round = 0; round < runs; round += 1) {
    for (const { args, over } of measured) {
      const least = run(["--eval", "0"], "cpu");
      bare.push(least);
      over.push(run(args, "cpu") - least);
    }
  }
  console.log(`Over a bare Node ${process.version}, which takes ${median(bare).toFixed(0)} ms; ${runs} runs\n`);
  console.log("| | modules | CPU, ms | KB | gzipped |\n|---|---:|---:|---:|---:|");
  for (const { name, args, over } of measured) {
    const contents = run(args, "modules").map((/** @type {string} */ file) => readFileSync(file));
    const cpu = median(over);
    const bytes = contents.reduce((/** @type {number} */ sum, /** @type {Buffer} */ { length }) => sum + length, 0);
    const packed = contents.reduce(
      (/** @type {number} */ sum, /** @type {Buffer} */ content) => sum + gzipSync(content).length,
      0,
    );
    console.log(`| ${name} | ${contents.length} | ${cpu.toFixed(0)} | ${kilobytes(bytes)} | ${kilobytes(packed)} |`);
  }
}

/** @param {number[]} values */
function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return (bytes / 1000).toFixed(0);
}
