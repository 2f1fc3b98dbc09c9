// A user of a made client, for the official conformance suite: lists the tools of the server at the URL that comes last, calls each,
// and agrees to every form with its defaults. Arguments: those of `node` that start the client.
import { spawnSync } from "node:child_process";

const url = process.argv.at(-1) ?? "";
const start = process.argv.slice(2, -1);

/** @param {readonly string[]} words */
function run(...words) {
  const input = `y\n${"\n".repeat(16)}`;
  const { stdout, stderr } = spawnSync(process.execPath, [...start, url, ...words], { input, encoding: "utf8" });
  process.stderr.write(stderr);
  return stdout;
}

/** @type {Readonly<Record<string, object>>} */
const args = { add_numbers: { a: 1, b: 2 } };
for (const [, name = ""] of run().matchAll(/^(\S+): /gm)) run(name, JSON.stringify(args[name] ?? {}));
